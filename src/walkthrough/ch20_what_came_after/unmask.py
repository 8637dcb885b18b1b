"""Writing with a model that guesses hidden words: all at once, or some in each pass (§7)."""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, get_args

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Generator, Tensor

from transformer.config import BOS_ID, EOS_ID, PAD_ID
from transformer.data.batching import Pair
from walkthrough.ch20_what_came_after.bert import MASK_ID, N_SENTENCES
from walkthrough.ch20_what_came_after.stream import Stack
from walkthrough.ch20_what_came_after.training import Recipe, train

N_SLOTS = 12
"""Places for the words of a translation; EOS stands in all that are left."""
Order = Literal["all at once", "surest half", "any half", "left to right"]
ORDERS: tuple[Order, ...] = get_args(Order)
Slots = Bool[Tensor, "batch length"]


class Rows(NamedTuple):
    """Source, BOS and the slots of the target, padded on the right; and where the slots are."""

    tokens: Int[Tensor, "batch length"]
    slots: Slots


def rows(pairs: Sequence[Pair]) -> Rows:
    """Return pairs as rows.

    Raises:
        ValueError: a target that has no room.
    """
    longest = max(len(target) for _, target in pairs)
    if longest >= N_SLOTS:
        raise ValueError(f"a target has at most {N_SLOTS - 1} words beside EOS, got {longest}")
    made = [[*s, BOS_ID, *t, *[EOS_ID] * (N_SLOTS - len(t))] for s, t in pairs]
    width = max(map(len, made))
    tokens = torch.tensor([row + [PAD_ID] * (width - len(row)) for row in made])
    at_bos = tokens == BOS_ID
    return Rows(tokens, (at_bos.cumsum(1) > 0) & ~at_bos & (tokens != PAD_ID))


def train_unmasking(model: Stack, pairs: Sequence[Pair], recipe: Recipe, *, seed: int) -> Stack:
    """Train a model to guess words of the target, of which a share drawn anew is hidden."""
    generator = Generator().manual_seed(seed)

    def losses() -> Iterator[Tensor]:
        while True:
            chosen = torch.randint(len(pairs), (N_SENTENCES,), generator=generator).tolist()
            yield unmasking_loss(model, rows([pairs[place] for place in chosen]), generator)

    train(model, losses(), recipe)
    return model


def unmasking_loss(model: Stack, given: Rows, generator: Generator) -> Float[Tensor, ""]:
    """Return the mean loss of the hidden words; each row hides another share of its slots."""
    tokens, slots = given
    share = torch.rand(len(tokens), 1, generator=generator)
    hidden = slots & (torch.rand(tokens.shape, generator=generator) < share)
    logits = model.project(model(tokens.masked_fill(hidden, MASK_ID))[hidden])
    return F.cross_entropy(logits, tokens[hidden])


@torch.no_grad()
def written(
    model: Stack, sources: Sequence[list[int]], order: Order, *, seed: int = 0
) -> tuple[list[list[int]], list[int]]:
    """Return a translation of each source, and in how many passes it was written.

    All slots are hidden at first. Each pass guesses those that still are and keeps some of its
    guesses. Behind an EOS there is nothing left to guess.
    """
    tokens, slots = rows([(source, []) for source in sources])
    hidden, passes = slots, torch.zeros(len(sources), dtype=torch.long)
    tokens = tokens.masked_fill(hidden, MASK_ID)
    generator = Generator().manual_seed(seed)
    while hidden.any():
        logits = model.project(model(tokens))
        logits[..., [PAD_ID, BOS_ID, MASK_ID]] = -torch.inf
        sure, guess = logits.softmax(-1).max(-1)
        keep = kept(sure, hidden, order, generator)
        passes += hidden.any(1)
        tokens = torch.where(keep, guess, tokens)
        ended = ((tokens == EOS_ID) & slots).cumsum(1) > 0
        tokens = tokens.masked_fill(ended & hidden & ~keep, EOS_ID)
        hidden = hidden & ~keep & ~ended
    found = [row[at].tolist() for row, at in zip(tokens, slots, strict=True)]
    return [row[: row.index(EOS_ID)] if EOS_ID in row else row for row in found], passes.tolist()


def kept(
    sure: Float[Tensor, "batch length"], hidden: Slots, order: Order, generator: Generator
) -> Slots:
    """Return which guesses a pass keeps: at least one in each row that has hidden words."""
    if order == "all at once":
        return hidden
    if order == "left to right":
        return hidden & (hidden.cumsum(1) == 1)
    chance = torch.rand(sure.shape, generator=generator)
    score = (chance if order == "any half" else sure).masked_fill(~hidden, -1)
    place = score.argsort(dim=1, descending=True).argsort(dim=1)
    return hidden & (place < (hidden.sum(1, keepdim=True) + 1) // 2)
