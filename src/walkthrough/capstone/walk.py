"""Figure 1, block by block, on real numbers: where a reader's model parts from the book's (§3)."""

import itertools
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache
from math import isfinite
from typing import Any

import torch
from torch import Tensor, nn

from walkthrough.capstone import book
from walkthrough.capstone.book import Block, Recorded
from walkthrough.capstone.slips import SLIPS, Slip, module_of
from walkthrough.capstone.weights import Placing, placings
from walkthrough.doctor.calling import Subject


@dataclass(frozen=True)
class Seen:
    """A block of Figure 1 in the reader's model: the largest difference, None where not seen."""

    name: str
    difference: float | None
    agrees: bool


@dataclass(frozen=True)
class Walk:
    """What the walk found: how the weights were placed, each block, the first that parts.

    `sure` is false where several placings of the weights were tried and none agreed: then a
    difference may be the placing's.
    """

    placed: str
    blocks: tuple[Seen, ...]
    sure: bool
    cause: str = ""

    @property
    def agrees(self) -> bool:
        """Whether the logits are the book's."""
        return self.blocks[-1].agrees

    @property
    def first(self) -> Seen | None:
        """The first block that is seen and parts from the book's; None where the logits agree."""
        if self.agrees:
            return None
        return next((one for one in self.blocks if not one.agrees and one.difference), None)

    @property
    def parting(self) -> str:
        """The first block that parts, and by how much."""
        if self.first is None:
            return ""
        gap = self.first.difference or 0.0
        by = "by its shape" if gap == torch.inf else f"by up to {gap:.3g}"
        return f"{self.first.name}, {'where it has NaN' if gap != gap else by}"

    def to_dict(self) -> dict[str, Any]:
        """Return what was found as plain values; a difference without end is null."""
        blocks = [asdict(one) for one in self.blocks]
        for one in blocks:
            one["difference"] = one["difference"] if isfinite(one["difference"] or 0) else None
        first = self.blocks.index(self.first) if self.first else None
        return {
            **{name: getattr(self, name) for name in ("placed", "sure", "agrees", "cause")},
            "first": self.first and self.first.name,
            "difference": None if first is None else blocks[first]["difference"],
            "blocks": blocks,
        }

    def __str__(self) -> str:
        head = f"The book's weights were placed {self.placed}."
        if self.agrees:
            return f"{head} The logits are the book's. {self._seen_said()}"
        if not self.sure:
            return (
                f"{head}\nNo order of placing that was tried gives the book's numbers. Whether a "
                "block is wrong or a weight stands elsewhere cannot be told: write down where each "
                "belongs (below)."
            )
        lines = [head]
        before = list(itertools.takewhile(lambda one: one is not self.first, self.blocks))
        if agreeing := [i for i, one in enumerate(before) if one.agrees]:
            hidden = ", ".join(one.name for one in before[agreeing[-1] + 1 :])
            lines.append(f"The last block that agrees is {before[agreeing[-1]].name}.")
            lines += [f"Not seen: {hidden}."] if hidden else []
        lines += [f"The first block that parts is {self.parting}."] if self.first else []
        return "\n".join([*lines, self.cause or "Which single line does this is not known."])

    def _seen_said(self) -> str:
        n, seen = len(self.blocks), [one for one in self.blocks if one.difference is not None]
        unseen = f", and {n - len(seen)} were not seen" if len(seen) < n else ""
        said = f"{len(seen)} of {n} blocks of Figure 1 were compared{unseen}."
        if other := [one.name for one in seen if not one.agrees and one.difference]:
            said += f" On the way there other numbers stand at: {', '.join(other)}."
        return said


@torch.no_grad()
def place(
    model: nn.Module, subject: Subject, mapping: Mapping[str, str] | None
) -> tuple[Placing, bool]:
    """Put the book's weights into the model; return how, and whether that is sure.

    Raises:
        CannotPlaceError: they do not fit.
    """
    state, last = book.state(), book.blocks()[-1]
    first, *others = placings(model, state, book.config().n_heads, mapping)
    for way in (first, *others) if others else ():
        way.put(model, state)
        if last.difference(subject.logits(*book.batch())) <= last.tolerance:
            return way, True
    first.put(model, state)
    return first, not others


@torch.no_grad()
def walk(
    model: nn.Module, subject: Subject, placed: Placing, sure: bool, status: Mapping[str, str]
) -> Walk:
    """Follow the walk's sentences through the model; parts whose status is "wrong" come first."""
    seen, logits = _numbers(model, subject)
    found = Walk(placed.how, _blocks(seen, logits, placed.how.endswith("skeleton")), sure)
    if found.agrees or not sure:
        return found
    return replace(found, cause=_cause(found, seen, logits, status))


def _numbers(model: nn.Module, subject: Subject) -> tuple[list[Recorded], Tensor]:
    """Return what the modules computed for the walk's sentences, and the logits."""
    with torch.no_grad(), book.recorded(model) as seen:
        logits = subject.logits(*book.batch())
    return seen, logits


def _blocks(seen: list[Recorded], logits: Tensor, by_name: bool) -> tuple[Seen, ...]:
    *most, last = book.blocks()
    gap = last.difference(logits)
    end = Seen(last.name, gap, gap <= last.tolerance)
    return (*(_seen(block, seen, by_name) for block in most), end)


def _seen(block: Block, seen: list[Recorded], by_name: bool) -> Seen:
    here = _candidates(block, seen) if by_name else []
    some = here or [one.value for one in seen if one.value.numel() == block.value.numel()]
    gap = min(map(block.difference, some), default=torch.inf, key=_size)
    agrees = gap <= block.tolerance
    return Seen(block.name, gap if here or agrees else None, agrees)


def _candidates(block: Block, seen: list[Recorded]) -> list[Tensor]:
    """Return what stands at the block's place in the skeleton, of the block's shape if any is."""
    here = [s.value for s in seen if s.path == block.path and s.is_input == block.is_input]
    return [value for value in here if value.shape == block.value.shape] or here


def _size(gap: float) -> float:
    return torch.inf if gap != gap else gap


def _cause(found: Walk, seen: list[Recorded], logits: Tensor, status: Mapping[str, str]) -> str:
    """Return the sentence on a slip that gives exactly these numbers, or nothing."""
    block = next(
        b for b, one in zip(book.blocks(), found.blocks, strict=True) if one is found.first
    )
    mine = _candidates(block, seen)
    for slip in sorted(SLIPS, key=lambda slip: status.get(slip.part) != "wrong"):
        theirs, result, parts_at = _slipped(slip)
        if not _same(logits, result):
            continue
        if block.path:  # the same block is the first to part, and has the same numbers
            others = _candidates(block, theirs)
            if parts_at != block.name or not (mine and others and _same(mine[-1], others[-1])):
                continue
        who = "the model" if status.get(slip.part) == "right" else f"`{slip.part}`"
        return f"Exactly these numbers come out where {who} forgets {slip.forgets}."
    return ""


def _same(one: Tensor, other: Tensor) -> bool:
    """Return whether two tensors are alike at the words of the batch; what is NaN tells nothing."""
    if one.shape != other.shape:
        return False
    at = next((at for at in map(book.words, (0, 1)) if at.shape == one.shape[:2]), ...)
    one, other = one[at], other[at]
    return torch.allclose(one, other, rtol=0, atol=2e-4 * max(1.0, float(other.abs().max())))


@cache
def _slipped(slip: Slip) -> tuple[list[Recorded], Tensor, str]:
    """Return what a slip computes, and the first block in which it parts from the book."""
    with torch.random.fork_rng(devices=[]):
        model = module_of(slip).Transformer(**book.sizes()).eval()
    try:
        model.load_state_dict(book.state())
        seen, logits = _numbers(model, Subject(model, model, (0, 0)))
    except RuntimeError:  # shapes that do not fit
        return [], torch.empty(0), ""
    first = Walk("", _blocks(seen, logits, by_name=True), True).first
    return seen, logits, "" if first is None else first.name
