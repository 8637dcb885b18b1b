"""A task that needs the source, for chapters 08 and 12: copy a sentence of random words (§3.1).

The words are independent, so the words before say nothing about the next one: a decoder that does
not look at the source can only guess, with a loss of log 16 = 2.77 nats a word.
"""

import math
from collections.abc import Callable, Sequence
from typing import Literal, cast

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from transformer.config import BOS_ID, UNK_ID, Norm, ResidualInit, TransformerConfig
from transformer.model import Transformer
from transformer.training.schedule import linear_rate

Start = ResidualInit | Literal["encoder", "decoder"]
"""How residual branches start; "encoder" and "decoder": small in that stack alone."""
N_WORDS = 16
LENGTH = 6
BATCH = 24
FIRST_WORD = UNK_ID + 1
UPDATES = 200
WARMUP = 50
PEAK = 5e-3
GUESSING = math.log(N_WORDS)
"""Loss of a model that does not look at the source, in nats a word."""


def new_model(norm: Norm, residual_init: Start, *, seed: int, n_layers: int = 4) -> Transformer:
    """Return an untrained model, small and without dropout.

    Raises:
        ValueError: no such norm or start, or no layers.
    """
    if residual_init in ("encoder", "decoder"):  # both starts draw the same numbers
        model, small = (
            new_model(norm, start, seed=seed, n_layers=n_layers) for start in ("xavier", "scaled")
        )
        stack = small.get_submodule(residual_init)
        model.get_submodule(residual_init).load_state_dict(stack.state_dict())
        return model
    config = TransformerConfig(
        vocab_size=FIRST_WORD + N_WORDS,
        d_model=32,
        n_heads=4,
        n_layers=n_layers,
        d_ff=64,
        dropout=0.0,
        norm=norm,
        residual_init=cast("ResidualInit", residual_init),
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Transformer(config)


def sentences(size: int, generator: torch.Generator) -> Int[Tensor, "size length"]:
    """Return random sentences; the words are independent."""
    return torch.randint(FIRST_WORD, FIRST_WORD + N_WORDS, (size, LENGTH), generator=generator)


def copy_loss(
    model: Callable[..., Tensor], source: Int[Tensor, "size length"]
) -> Float[Tensor, ""]:
    """Return the mean loss a word of writing the source again."""
    logits = model(source, F.pad(source[:, :-1], (1, 0), value=BOS_ID))
    return F.cross_entropy(logits.flatten(0, 1), source.flatten())


def train(
    norm: Norm,
    residual_init: Start,
    *,
    warmup: int = WARMUP,
    seed: int,
    peak: float = PEAK,
    updates: int = UPDATES,
    model: Transformer | None = None,
) -> tuple[Transformer, list[float]]:
    """Train a model with Adam (§5.3), a new one or `model`; return it and each update's loss.

    The rate rises to `peak` in `warmup` updates, then falls in a line. `warmup=1` is no warm-up:
    the first update has the peak already.

    Raises:
        ValueError: as `new_model`, or `updates` not above `warmup`.
    """
    model = model or new_model(norm, residual_init, seed=seed)
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9)
    losses = []
    for update in range(1, updates + 1):
        rate = linear_rate(update, peak=peak, warmup=warmup, total=updates + 1)
        for parameters in optimizer.param_groups:
            parameters["lr"] = rate
        loss = copy_loss(model, sentences(BATCH, generator))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return model.eval(), losses


@torch.no_grad()
def loss_on_new(model: Transformer, *, size: int = 300, seed: int = 10_000) -> float:
    """Return the loss on new sentences, in nats a word."""
    return copy_loss(model, sentences(size, torch.Generator().manual_seed(seed))).item()


def smoothed(losses: list[float], *, width: int = 10) -> list[tuple[int, float]]:
    """Return the mean of every `width` updates, at the last of them.

    Raises:
        ValueError: fewer losses than one window holds.
    """
    if not 1 <= width <= len(losses):
        raise ValueError(f"width must lie in 1 … {len(losses)}, got {width}")
    ends = range(width, len(losses) + 1, width)
    return [(end, sum(losses[end - width : end]) / width) for end in ends]


def updates_to(loss: float, curve: Sequence[tuple[int | float, float]]) -> int | float | None:
    """Return the first update of a curve at which the loss is at most `loss`, or None."""
    return next((update for update, value in curve if value <= loss), None)
