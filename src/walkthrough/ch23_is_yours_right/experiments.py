"""What chapter 23 measures: reports on slips, and whether a model with scrambled heads learns."""

from functools import cache
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from transformer.config import BOS_ID
from walkthrough.ch23_is_yours_right.slips import build, text_of
from walkthrough.doctor import Report, examine
from walkthrough.lab import copying

PAD_ID = 0
N_WORDS = 6
"""Words of a sentence in which one is changed at a time."""


@cache
def report(slip: str) -> Report:
    """Return what the doctor says of the file with one slip."""
    return examine(build(text_of(slip)), pad=PAD_ID)


def words(*, seed: int = 1) -> Tensor:
    """Return three sentences of random words, without padding, of shape (3, N_WORDS)."""
    return torch.randint(4, 60, (3, N_WORDS), generator=torch.Generator().manual_seed(seed))


@torch.no_grad()
def moves(model: nn.Module) -> Float[Tensor, "predictions words"]:
    """Return how far each prediction moves at most when one target word is changed (§3.2.3)."""
    model.eval()
    source, target = words(), words(seed=2)
    before, columns = model(source, target), []
    for place in range(N_WORDS):
        other = target.clone()
        other[:, place] = 4 + (other[:, place] - 3) % 56
        columns.append((model(source, other) - before).abs().amax((0, 2)))
    return torch.stack(columns, 1)


@torch.no_grad()
def padding_moves(model: nn.Module) -> Float[Tensor, "predictions 1"]:
    """Return how far each prediction moves with three tokens of padding behind the source."""
    model.eval()
    source, target = words(), words(seed=2)
    longer = nn.functional.pad(source, (0, 3), value=PAD_ID)
    return (model(longer, target) - model(source, target)).abs().amax((0, 2))[:, None]


def learned(
    slip: str, *, updates: int = 240, seed: int = 1
) -> tuple[nn.Module, list[tuple[int, float]]]:
    """Return the file's model with one slip, trained to copy six words, and its smoothed loss."""
    model: Any = build(text_of(slip), seed=seed, dropout=0.0)
    model, losses = copying.train(
        "post", "xavier", seed=seed, updates=updates, peak=0.01, model=model
    )
    return model, copying.smoothed(losses)


@torch.no_grad()
def copied(model: nn.Module, *, size: int = 100) -> int:
    """Return how many of 100 new sentences a model copies, written word by word (§3.1)."""
    source = copying.sentences(size, torch.Generator().manual_seed(99))
    target = torch.full((size, 1), BOS_ID)
    for _ in range(copying.LENGTH):
        target = torch.cat([target, model(source, target)[:, -1:].argmax(-1)], 1)
    return int((target[:, 1:] == source).all(1).sum())
