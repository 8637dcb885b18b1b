"""What happens to words and gradients on the way through many layers, for chapter 08 (§3.1)."""

from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from transformer.layers import ResidualNorm
from transformer.model import Transformer
from walkthrough.lab import copying

Sublayer = Callable[[Tensor], Tensor]


class NoResidual(nn.Module):
    """A `ResidualNorm` with the addition left out: LayerNorm(Sublayer(x))."""

    def __init__(self, connection: ResidualNorm) -> None:
        super().__init__()
        self.layer_norm, self.dropout = connection.layer_norm, connection.dropout

    def forward(
        self, x: Float[Tensor, "batch length d_model"], sublayer: Sublayer
    ) -> Float[Tensor, "batch length d_model"]:
        """Normalise the sub-layer's output; its input goes no further."""
        normalised: Tensor = self.layer_norm(self.dropout(sublayer(x)))
        return normalised


def without_residuals(model: Transformer) -> Transformer:
    """Take the residual connections out of a post-norm model, in place.

    Raises:
        ValueError: the model is pre-norm, where the connection is all that reaches the top.
    """
    if model.config.norm != "post":
        raise ValueError(f"a post-norm model is needed, got norm={model.config.norm!r}")
    for parent in list(model.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, ResidualNorm):
                setattr(parent, name, NoResidual(child))
    return model


def gradient_norms(model: Transformer, *, seed: int = 0) -> dict[str, list[float]]:
    """Return the norm of the loss's gradient at each layer's output, of encoder and decoder.

    One batch of sentences to copy. The first entry is the lowest layer.
    """
    outputs: dict[str, list[Tensor]] = {"encoder": [], "decoder": []}

    def keep(side: str) -> Callable[..., None]:
        def hook(_: nn.Module, __: object, output: tuple[Any, ...]) -> None:
            output[0].retain_grad()
            outputs[side].append(output[0])

        return hook

    stacks = {"encoder": model.encoder.layers, "decoder": model.decoder.layers}
    hooks = [
        layer.register_forward_hook(keep(side)) for side, stack in stacks.items() for layer in stack
    ]
    generator = torch.Generator().manual_seed(seed)
    copying.copy_loss(model, copying.sentences(64, generator)).backward()
    for hook in hooks:
        hook.remove()
    model.zero_grad()
    return {
        side: [x.grad.norm().item() for x in xs if x.grad is not None]
        for side, xs in outputs.items()
    }


def where_over_what(model: Transformer, *, seed: int = 0) -> float:
    """Return how strongly the loss pulls at *where* the decoder looks, over *what* it takes.

    That is the gradient norm of the queries' and keys' matrices in all encoder–decoder attentions,
    divided by that of the values' matrices.
    """
    copying.copy_loss(model, copying.sentences(64, torch.Generator().manual_seed(seed))).backward()
    looks = [layer.cross_attention for layer in model.decoder.layers]  # type: ignore[union-attr]
    where = [m.weight.grad for look in looks for m in (look.query_proj, look.key_proj)]  # type: ignore[union-attr]
    what = [look.value_proj.weight.grad for look in looks]  # type: ignore[union-attr]
    ratio = torch.cat(where).norm() / torch.cat(what).norm()  # type: ignore[arg-type]
    model.zero_grad()
    return ratio.item()


def first_update(model: Transformer, *, rate: float, seed: int = 0) -> float:
    """Make Adam's first update and return how far the decoder's states move, relative to size.

    Adam's first update moves every weight by the rate, whatever the size of its gradient.
    """
    generator = torch.Generator().manual_seed(seed)
    batch, watched = copying.sentences(copying.BATCH, generator), copying.sentences(64, generator)
    optimizer = torch.optim.Adam(model.parameters(), lr=rate, betas=(0.9, 0.98), eps=1e-9)
    with torch.no_grad():
        before = model.states(watched, watched)
    copying.copy_loss(model, batch).backward()
    optimizer.step()
    optimizer.zero_grad()
    with torch.no_grad():
        moved = model.states(watched, watched) - before
    return (moved.norm() / before.norm()).item()


@torch.no_grad()
def branch_shares(model: Transformer, *, seed: int = 0) -> list[float]:
    """Return, for every sub-layer of the encoder, branch variance over stream variance.

    The branch is what the sub-layer computes, the stream is what it is added to.
    """
    shares: list[float] = []

    def measure(
        _: nn.Module, inputs: tuple[Tensor, Callable[[Tensor], Tensor]], __: Tensor
    ) -> None:
        x, sublayer = inputs
        connection = connections[len(shares)]
        branch = sublayer(x if connection.is_post_norm else connection.layer_norm(x))
        shares.append((branch.var(-1).mean() / x.var(-1).mean()).item())

    connections = [each for each in model.encoder.modules() if isinstance(each, ResidualNorm)]
    hooks = [each.register_forward_hook(measure) for each in connections]
    model.encode(copying.sentences(64, torch.Generator().manual_seed(seed)))
    for hook in hooks:
        hook.remove()
    return shares


@torch.no_grad()
def stream(model: Transformer, *, seed: int = 0) -> Float[Tensor, "depth size length d_model"]:
    """Return what enters the encoder and what leaves each of its layers.

    The final layer norm of a pre-norm model is left out.
    """
    depths: list[Tensor] = []

    def enter(_: nn.Module, inputs: tuple[Tensor, object]) -> None:
        depths.append(inputs[0])

    def leave(_: nn.Module, __: object, output: tuple[Any, ...]) -> None:
        depths.append(output[0])

    layers = list(model.encoder.layers)
    hooks = [layers[0].register_forward_pre_hook(enter)]
    hooks += [layer.register_forward_hook(leave) for layer in layers]
    model.encode(copying.sentences(64, torch.Generator().manual_seed(seed)))
    for hook in hooks:
        hook.remove()
    return torch.stack(depths)


def remaining(model: Transformer) -> list[float]:
    """Return how much of a word's vector is left after each layer of the encoder.

    It is the squared correlation of a word's components with those it came in with: 1 means that
    nothing but size and offset changed, 0 that no trace is left.
    """
    x = stream(model)
    x = x - x.mean(-1, keepdim=True)
    correlation = nn.functional.cosine_similarity(x, x[:1], dim=-1)
    return correlation.square().mean((1, 2)).tolist()


def alikeness(model: Transformer) -> list[float]:
    """Return the mean correlation between two different words of a sentence, at each depth."""
    x = stream(model)
    x = nn.functional.normalize(x - x.mean(-1, keepdim=True), dim=-1)
    pairs = (x @ x.mT).flatten(2)  # depth, sentence, pairs of places
    others = ~torch.eye(copying.LENGTH, dtype=torch.bool).flatten()
    return pairs[..., others].mean((1, 2)).tolist()
