"""What happens to words and gradients on the way through many layers, for chapter 08 (§3.1)."""

from collections.abc import Sequence
from statistics import fmean
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from transformer.config import Norm
from transformer.layers import ResidualNorm
from transformer.model import Transformer
from walkthrough.lab import copying


class NoResidual(ResidualNorm):
    """A post-norm `ResidualNorm` with the addition left out: LayerNorm(Sublayer(x))."""

    def forward(
        self, x: Float[Tensor, "batch length d_model"], y: Float[Tensor, "batch length d_model"]
    ) -> Float[Tensor, "batch length d_model"]:
        """Normalise the sub-layer's output; its input goes no further."""
        return self.layer_norm(self.dropout(y))


def without_residuals(model: Transformer) -> Transformer:
    """Take the residual connections out of a post-norm model, in place.

    Raises:
        ValueError: the model is pre-norm, where the connection is all that reaches the top.
    """
    if model.config.norm != "post":
        raise ValueError(f"a post-norm model is needed, got norm={model.config.norm!r}")
    for module in model.modules():
        if isinstance(module, ResidualNorm):
            module.__class__ = NoResidual
    return model


def last_gradient(model: Transformer, *, seed: int = 0) -> float:
    """Return the gradient's norm of the last weights: W2 of the decoder's top layer (Xiong et al.).

    The loss is that of one batch of sentences to copy.
    """
    copying.copy_loss(model, copying.sentences(64, torch.Generator().manual_seed(seed))).backward()
    weight: nn.Parameter = model.decoder.layers[-1].feed_forward.contract.weight  # type: ignore[union-attr, assignment]
    assert weight.grad is not None
    norm, weight.grad = weight.grad.norm().item(), None
    return norm


def last_gradients(norm: Norm, depths: Sequence[int], *, n_seeds: int = 4) -> list[float]:
    """Return the mean `last_gradient` of untrained models of these depths, full-size start."""
    return [
        fmean(
            last_gradient(copying.new_model(norm, "xavier", seed=seed, n_layers=n_layers))
            for seed in range(n_seeds)
        )
        for n_layers in depths
    ]


@torch.no_grad()
def stream(
    model: Transformer, tokens: Int[Tensor, "size length"]
) -> Float[Tensor, "depth size length d_model"]:
    """Return what enters the encoder and what leaves each of its layers.

    The final layer norm of a pre-norm model is left out.
    """
    depths: list[Tensor] = []

    def leave(_: nn.Module, given: tuple[Tensor, object], output: tuple[Any, ...]) -> None:
        depths.extend([output[0]] if depths else [given[0], output[0]])

    hooks = [layer.register_forward_hook(leave) for layer in model.encoder.layers]
    model.encode(tokens)
    for hook in hooks:
        hook.remove()
    return torch.stack(depths)


def alikeness(words: Float[Tensor, "*depth length d_model"]) -> Float[Tensor, "*depth"]:
    """Return the mean correlation between two different words of a sentence."""
    x = nn.functional.normalize(words - words.mean(-1, keepdim=True), dim=-1)
    others = ~torch.eye(x.shape[-2], dtype=torch.bool)
    return (x @ x.mT)[..., others].mean(-1)
