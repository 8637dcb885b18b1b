"""What adapters measure with: one model of random weights, two sentences, and who is who.

Nothing is taken from a library's documentation: its outputs are compared with those of our model
in every arrangement of norms, its table with every layout, its mask is tried.
"""

from collections.abc import Callable, Iterable
from copy import deepcopy
from itertools import product
from math import log
from typing import Any

import torch
from torch import Tensor, nn

from phrasebook.codec import PhrasebookCodec
from transformer.config import PAD_ID, TransformerConfig
from transformer.data.vocabulary import SPECIALS, Vocabulary
from transformer.model import Transformer
from transformer.positional import sinusoidal_encoding

FACTS = {  # what a row says, in the page's order
    "norm": "Norm",
    "last_norm": "Last norm of a stack",
    "scale": "√d_model on embeddings",
    "positions": "Positions",
    "biases": "Biases",
    "activation": "Activation",
    "dropout": "Dropout",
    "tie": "One matrix for embeddings and output",
    "true": "True in a mask means",
    "search": "Search",
}
SOURCE = torch.tensor([[5, 9, 17, 33, 2, 0, 0], [7, 8, 30, 12, 25, 39, 2]])
TARGET = torch.tensor([[1, 4, 21, 11, 0, 0], [1, 13, 6, 28, 34, 19]])
ACTIVATIONS = {"ReLU": 0.0, "GELU": -0.158655, "GELU (tanh)": -0.158808, "SiLU": -0.268941}
YES = {True: "yes", False: "no"}
SAME = 1e-3  # between two arrangements lies more than a tenth, between two ε less than this
SIZES = {"vocab_size": 40, "d_model": 32, "n_heads": 4, "n_layers": 2, "d_ff": 64}


@torch.no_grad()
def paper_model(*, biases: bool = True, seed: int = 1) -> Transformer:
    """Return the paper's model with every number random, so that each slip shows.

    Without `biases` those of attention and of layer norm are 0, as some libraries have none.
    """
    torch.manual_seed(seed)
    model = Transformer(TransformerConfig(**SIZES, dropout=0.0))
    for name, parameter in model.named_parameters():
        parameter.normal_(std=0.3)
        if name.endswith("layer_norm.weight"):
            parameter.add_(1)
        elif name.endswith("bias") and not biases and "feed_forward" not in name:
            parameter.zero_()
    return model.eval()


@torch.no_grad()
def codec() -> PhrasebookCodec:
    """Return forty words, by the names w0, w1 …, for libraries that want text."""
    words = (f"w{number}" for number in range(SIZES["vocab_size"] - len(SPECIALS)))
    return PhrasebookCodec(Vocabulary((*SPECIALS, *words)))


def last_norm(side: str) -> nn.LayerNorm:
    """Return the layer norm that a stack ends with where a library has one: random, too."""
    torch.manual_seed({"encoder": 2, "decoder": 3}[side])
    norm = nn.LayerNorm(SIZES["d_model"])
    norm.weight.normal_(1, 0.3)
    return norm


@torch.no_grad()
def difference(ours: Transformer, memory: Any, logits: Any) -> dict[str, float]:
    """Return the largest absolute differences at real positions, of two digits."""
    wanted = ours.encode(SOURCE)
    found = {
        "memory": (wanted, memory, SOURCE != PAD_ID),
        "logits": (ours(SOURCE, TARGET), logits, TARGET != PAD_ID),
    }
    return {
        name: float(f"{(as_tensor(theirs) - our)[real].abs().max():.1e}")
        for name, (our, theirs, real) in found.items()
        if theirs is not None
    }


def norms_like(ours: Transformer, memory: Any, logits: Any) -> dict[str, str]:
    """Return the facts `norm` and `last_norm`: which arrangement gives these outputs.

    Raises:
        LookupError: none does.
    """
    found = []
    for side, outputs in (("encoder", memory), ("decoder", logits)):
        for norm, last in product(("post", "pre"), ("none", "yes")):
            model = _arranged(ours, side, norm, last)
            kind = {"encoder": "memory", "decoder": "logits"}[side]
            asked = {"memory": None, "logits": None} | {kind: outputs}
            if difference(model, **asked)[kind] < SAME:
                ours = model
                found.append((norm, last))
                break
        else:
            raise LookupError(f"the {side} is neither post nor pre, with or without a last norm")
    norm, last = (
        a if a == b else f"{a} in the encoder, {b} in the decoder"
        for a, b in zip(*found, strict=True)
    )
    return {"norm": norm, "last_norm": last}


def _arranged(ours: Transformer, side: str, norm: str, last: str) -> Transformer:
    other = Transformer(ours.config.replace(norm=norm))
    other.load_state_dict(ours.state_dict(), strict=False)
    stack = getattr(other, side)
    stack.final_norm = last_norm(side) if last == "yes" else nn.Identity()
    model = deepcopy(ours)
    setattr(model, side, stack)
    return model.eval()


def positions_like(table: Any) -> str:
    """Return which layout of the sinusoids a table is, and its first position."""
    table = as_tensor(table)
    length, width = table.shape
    for start in range(4):
        pairs = sinusoidal_encoding(length, width, start=start)
        halves = torch.cat([pairs[:, 0::2], pairs[:, 1::2]], dim=1)
        steps = torch.arange(width // 2) * -log(10000) / (width // 2 - 1)
        angles = torch.arange(start, start + length)[:, None] * steps.exp()
        layouts = {
            "interleaved, the paper's": pairs,
            "halves: the paper's numbers, all sines first": halves,
            "halves with other wavelengths: the last is 10000, not 10000^(1 − 2/d)": torch.cat(
                [angles.sin(), angles.cos()], dim=1
            ),
        }
        for name, layout in layouts.items():
            if (table - layout).abs().max() < 1e-4:
                return f"{name}; the first position is {start}"
    return "none of the known layouts"


def activation_like(function: Callable[[Tensor], Any]) -> str:
    """Return the name of an activation, by what it makes of −1."""
    value = float(as_tensor(function(torch.tensor([-1.0])))[0])
    named = (name for name, known in ACTIVATIONS.items() if abs(value - known) < 2e-5)
    return next(named, f"unknown: −1 becomes {value:.4f}")


def true_like(attend: Callable[[Tensor, Tensor], Any]) -> str:
    """Return what True means: `attend(keys, mask)` returns outputs for three keys.

    The mask is True, False, True. A key is open if changing it moves the output anywhere else.

    Raises:
        LookupError: the mask closes neither kind of key, or both.
    """
    torch.manual_seed(4)
    keys, mask = torch.randn(1, 3, SIZES["d_model"]), torch.tensor([[True, False, True]])
    before, moved = as_tensor(attend(keys, mask)), []
    for place in (0, 1):
        other = keys.clone()
        other[0, place].normal_()  # a constant would be lost in a layer norm
        change = (as_tensor(attend(other, mask)) - before)[0].abs().amax(-1)
        rows = [row for row in range(len(change)) if len(change) == 1 or row != place]
        moved.append(bool(change[rows].max() > 1e-6))
    if moved[0] == moved[1]:
        raise LookupError(f"keys marked True and False move the output: {moved}")
    return "may attend" if moved[0] else "closed"


def as_tensor(values: Any) -> Tensor:
    """Return any library's array on the CPU."""
    if not isinstance(values, Tensor):
        import numpy as np

        values = torch.tensor(np.asarray(values))
    return values.detach().float().cpu()


def copy(theirs: Iterable[Any], ours: Iterable[Any]) -> None:
    """Copy weights, and biases where both have one, from module to module."""
    for their, our in zip(theirs, ours, strict=True):
        their.weight.copy_(our.weight)
        if getattr(their, "bias", None) is not None:
            their.bias.copy_(our.bias)


def rates(*modules: nn.Module) -> str:
    """Return the rates of all dropouts in these modules, each once."""
    found = {m.p for module in modules for m in module.modules() if isinstance(m, nn.Dropout)}
    return " or ".join(f"{rate:g}" for rate in sorted(found))


def biases(attention: Any, feed: Any) -> str:
    """Return the fact `biases`, of any map of attention and any of the feed-forward network."""
    return f"q, k, v, o: {YES[attention is not None]}; feed-forward: {YES[feed is not None]}"


def attentions(layer: Any) -> list[list[nn.Module]]:
    """Return W^Q, W^K, W^V and W^O of each attention of one of our layers."""
    both = [getattr(layer, n, None) for n in ("self_attention", "cross_attention")]
    return [[a.query_proj, a.key_proj, a.value_proj, a.output_proj] for a in both if a is not None]


def attention_alone(theirs: Callable[[Tensor, Tensor], Any], maker: str) -> dict[str, Any]:
    """Return the row of a library that has attention and no stack.

    `theirs` attends from words to themselves with the weights of `ATTENTION`, where a mask is True.
    """
    torch.manual_seed(5)
    words, mask = torch.randn(1, 5, SIZES["d_model"]), torch.ones(1, 5, dtype=torch.bool)
    mask[:, 3:] = False
    wanted, _ = ATTENTION(words, words, words, mask[:, None, None])
    gap = float(f"{(as_tensor(theirs(words, mask)) - wanted).abs().max():.1e}")
    none = f"no stack; {maker} is attention alone"
    return {
        "facts": dict.fromkeys(FACTS, "no stack")
        | {"true": true_like(theirs), "positions": "none", "search": "none"},
        "carries": "attention alone",
        "with": none,
        "carried": {"attention": gap},
        "default": {},
        "notes": [],
    }


ATTENTION = paper_model().encoder.layers[0].self_attention
