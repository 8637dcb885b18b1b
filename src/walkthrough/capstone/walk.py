"""Figure 1, block by block, on real numbers: where a reader's model parts from the book's (§3)."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

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

    def __str__(self) -> str:
        n = len(self.blocks)
        seen = [one for one in self.blocks if one.difference is not None]
        head = f"The book's weights were placed {self.placed}."
        if self.agrees:
            other = [one.name for one in self.blocks if not one.agrees and one.difference]
            seen_elsewhere = f", and {n - len(seen)} were not seen" if len(seen) < n else ""
            said = f"{len(seen)} of {n} blocks of Figure 1 were compared{seen_elsewhere}."
            if other:
                said += f" On the way there other numbers stand at: {', '.join(other)}."
            return f"{head} The logits are the book's. {said}"
        lines = [head]
        if not self.sure:
            lines.append(
                "No order of placing that was tried gives the book's numbers. Whether a block "
                "is wrong or a weight stands elsewhere cannot be told: write down where each "
                "belongs (below)."
            )
            return "\n".join(lines)
        before = list(itertools.takewhile(lambda one: one is not self.first, self.blocks))
        agreeing = [i for i, one in enumerate(before) if one.agrees]
        if agreeing:
            hidden = ", ".join(one.name for one in before[agreeing[-1] + 1 :])
            lines.append(f"The last block that agrees is {before[agreeing[-1]].name}.")
            lines += [f"Not seen: {hidden}."] if hidden else []
        lines += [f"The first block that parts is {self.parting}."] if self.first else []
        lines.append(self.cause or "Which single line does this is not known.")
        return "\n".join(lines)


@torch.no_grad()
def place(
    model: nn.Module, subject: Subject, mapping: Mapping[str, str] | None
) -> tuple[Placing, bool]:
    """Put the book's weights into the model; return how, and whether that is sure.

    Raises:
        CannotPlaceError: they do not fit.
    """
    state, last = book.state(), book.blocks()[-1]
    ways = placings(model, state, book.config().n_heads, mapping)
    if len(ways) == 1:
        ways[0].put(model, state)
        return ways[0], True
    for way in ways:
        way.put(model, state)
        if last.difference(subject.logits(*book.batch())) <= last.tolerance:
            return way, True
    ways[0].put(model, state)
    return ways[0], False


@torch.no_grad()
def walk(
    model: nn.Module, subject: Subject, placed: Placing, sure: bool, status: Mapping[str, str]
) -> Walk:
    """Follow the walk's sentences through the model; parts whose status is "wrong" come first."""
    seen, logits = numbers(model, subject)
    blocks = _blocks(seen, logits, by_name=placed.how.endswith("skeleton"))
    found = Walk(placed.how, blocks, sure)
    if found.agrees or not sure:
        return found
    return Walk(placed.how, blocks, sure, _cause(found, seen, logits, status))


def _blocks(seen: list[Recorded], logits: Tensor, *, by_name: bool) -> tuple[Seen, ...]:
    *most, last = book.blocks()
    gap = last.difference(logits)
    end = Seen(last.name, gap, gap <= last.tolerance)
    return (*(_seen(block, seen, by_name) for block in most), end)


def numbers(model: nn.Module, subject: Subject) -> tuple[list[Recorded], Tensor]:
    """Return what the modules computed for the walk's sentences, and the logits."""
    with torch.no_grad(), book.recorded(model) as seen:
        logits = subject.logits(*book.batch())
    return seen, logits


def _candidates(block: Block, seen: list[Recorded]) -> list[Tensor]:
    """Return what stands at the block's place in the skeleton, of the block's shape if any is."""
    here = [s.value for s in seen if s.path == block.path and s.is_input == block.is_input]
    fitting = [value for value in here if value.shape == block.value.shape]
    return fitting or here


def _seen(block: Block, seen: list[Recorded], by_name: bool) -> Seen:
    if by_name and (here := _candidates(block, seen)):
        gap = min(map(block.difference, here), key=_size)
        return Seen(block.name, gap, gap <= block.tolerance)
    alike = [one.value for one in seen if one.value.numel() == block.value.numel()]
    gap = min(map(block.difference, alike), default=torch.inf, key=_size)
    return Seen(block.name, gap, True) if gap <= block.tolerance else Seen(block.name, None, False)


def _size(gap: float) -> float:
    return torch.inf if gap != gap else gap


def _cause(found: Walk, seen: list[Recorded], logits: Tensor, status: Mapping[str, str]) -> str:
    """Return the sentence on a slip that gives exactly these numbers, or nothing."""
    first = next(i for i, one in enumerate(found.blocks) if one is found.first)
    block = book.blocks()[first]
    for slip in sorted(SLIPS, key=lambda slip: status.get(slip.part) != "wrong"):
        theirs, result, parts_at = _slipped(slip)
        if not _same(logits, result):
            continue
        if block.path:  # the same block is the first to part, and has the same numbers
            mine, others = _candidates(block, seen), _candidates(block, theirs)
            if parts_at != block.name or not (mine and others and _same(mine[-1], others[-1])):
                continue
        who = "the model" if status.get(slip.part) == "right" else f"`{slip.part}`"
        return f"Exactly these numbers come out where {who} forgets {slip.forgets}."
    return ""


def _same(one: Tensor, other: Tensor) -> bool:
    """Return whether two tensors are alike at the words of the batch; what is NaN tells nothing."""
    if one.shape != other.shape:
        return False
    at = next((at for at in map(book.words, (0, 1)) if at.shape == one.shape[:2]), None)
    one, other = (one, other) if at is None else (one[at], other[at])
    return torch.allclose(one, other, rtol=0, atol=2e-4 * max(1.0, float(other.abs().max())))


@cache
def _slipped(slip: Slip) -> tuple[list[Recorded], Tensor, str]:
    """Return what a slip computes, and the first block in which it parts from the book."""
    with torch.random.fork_rng(devices=[]):
        model = module_of(slip).Transformer(**book.sizes()).eval()
    try:
        model.load_state_dict(book.state())
        seen, logits = numbers(model, Subject(model, model, (0, 0)))
    except RuntimeError:  # shapes that do not fit
        return [], torch.empty(0), ""
    first = Walk("", _blocks(seen, logits, by_name=True), True).first
    return seen, logits, "" if first is None else first.name
