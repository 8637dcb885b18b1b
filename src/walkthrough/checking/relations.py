"""Relations between results and expected ones: a factor, a summand, an order, a shape.

Each is proved on all cases of a check (`Series.proves`), and the most telling comes first.
"""

import math
from collections.abc import Iterator
from functools import partial
from itertools import permutations
from typing import Any

import torch
from torch import Tensor

from walkthrough.checking.compare import short
from walkthrough.checking.evidence import Guess, Pair, Series
from walkthrough.checking.kinds import as_values


def relation(series: Series) -> str | None:
    """Return how all results come from the expected ones, or None."""
    return next((sentence for sentence, guess in _guesses(series) if series.proves(guess)), None)


def _guesses(series: Series) -> Iterator[tuple[str, Guess]]:
    if series.truths:
        sentence = "every truth value is inverted: True stands where False belongs"
        yield sentence, lambda pair: 1 - pair.wanted
    else:
        yield from _of_values(series)
    dims = {pair.wanted.dim() for pair in series.wrong}
    if len(dims) == 1 and dims != {0}:
        yield from _of_order(dims.pop())


# Every value from the value in its place ----------------------------------------------------------

_STEPS: dict[str, Any] = {
    "with the opposite sign": torch.neg,
    "upside down, 1 over it": torch.reciprocal,
    "taken from 1: 1 minus it": lambda x: 1 - x,
    "squared": torch.square,
    "under a square root": torch.sqrt,
    "as its logarithm": torch.log,
    "as its exponential": torch.exp,
    "rounded down": torch.floor,
    "rounded to a whole number": torch.round,
    "rounded to one decimal": partial(torch.round, decimals=1),
    "rounded to two decimals": partial(torch.round, decimals=2),
}


def _of_values(series: Series) -> Iterator[tuple[str, Guess]]:
    for name, step in _STEPS.items():
        yield f"every value is the expected one {name}", _of_wanted(step)
    if not all(pair.alike for pair in series.pairs):
        return
    factors = [_ratio(pair) for pair in series.wrong]
    number = short(factors[0], 3 if abs(factors[0] - 1) > 0.01 else 5)
    yield f"every value is {number} times the expected one", lambda pair: pair.wanted * factors[0]
    shift = float((series.wrong[0].mine - series.wrong[0].wanted).mean())
    number = f"{'minus' if shift < 0 else 'plus'} {short(abs(shift))}"
    yield f"every value is the expected one {number}", lambda pair: pair.wanted + shift
    if all(pair.mine.numel() >= 4 for pair in series.wrong):
        number = ", ".join(map(short, factors[:3]))
        yield (
            f"every value is the expected one times a number, another in each case: {number}",
            lambda pair: pair.wanted * _ratio(pair),
        )


def _of_wanted(step: Any) -> Guess:
    return lambda pair: step(pair.wanted)


def _ratio(pair: Pair) -> float:
    squares = float((pair.wanted * pair.wanted).sum())
    return float((pair.mine * pair.wanted).sum()) / squares if squares else math.nan


# The expected values in other places --------------------------------------------------------------


def _of_order(dims: int) -> Iterator[tuple[str, Guess]]:
    orders = [order for order in permutations(range(dims)) if order != tuple(range(dims))]
    orders = orders if dims <= 4 else []
    for number in range(dims):
        yield from _at_an_end(number, slice_of(number, dims))
    for order in orders:
        sentence = f"your result is the expected one {_exchange(order)}"
        yield sentence, _of_wanted(partial(torch.permute, dims=order))
    for number in range(dims):
        yield from _along(number, slice_of(number, dims))
    yield (
        "the values are right and in the right order, the shape is not",
        lambda pair: pair.wanted.reshape(pair.mine.shape) if pair.right or not pair.alike else None,
    )
    for order in orders:
        yield (
            "these are the expected numbers in another order, as after a `reshape` in the place of "
            "a transpose: `reshape` cuts the row of all numbers anew and exchanges no dimensions",
            partial(_cut_anew, order),
        )
    yield "all expected values are there, but in another order", _in_my_order


def _at_an_end(number: int, what: str) -> Iterator[tuple[str, Guess]]:
    for end in ("first", "last"):
        yield f"the {end} {what} is missing, or several", partial(_cut, number, end)
        yield f"one {what} too many comes {end}, or several", partial(_longer, number, end)


def _along(number: int, what: str) -> Iterator[tuple[str, Guess]]:
    sentence = f"your result is the expected one turned round: the last {what} comes first"
    yield sentence, _of_wanted(partial(torch.flip, dims=(number,)))
    for by, late in ((1, "late"), (-1, "early")):
        yield (
            f"every {what} stands one place too {late}: your {what} 1 is the expected {what} "
            f"{1 - by}, and so on, counted from 0",
            partial(_moved, number, by),
        )


def slice_of(number: int, dims: int, place: str = "") -> str:
    """Return what one place along a dimension is called: an entry, a row, a column."""
    if dims < 3:
        return ("entry" if dims == 1 else ("row", "column")[number]) + place
    return f"slice{place} along dimension {number}" + " (the last)" * (number == dims - 1)


def _exchange(order: tuple[int, ...]) -> str:
    moved = [place for place, old in enumerate(order) if place != old]
    if len(moved) == 2:
        names = "rows and columns" if len(order) == 2 else f"dimensions {moved[0]} and {moved[1]}"
        return f"transposed: {names} are exchanged"
    return f"with its dimensions in another order: {order} of the expected ones"


def _cut_anew(order: tuple[int, ...], pair: Pair) -> Tensor | None:
    return pair.wanted.permute(order).reshape(pair.mine.shape) if pair.alike else None


def _cut(number: int, end: str, pair: Pair) -> Tensor:
    size, kept = pair.wanted.shape[number], pair.mine.shape[number]
    return pair.wanted.narrow(number, size - kept if end == "first" else 0, kept)


def _longer(number: int, end: str, pair: Pair) -> Tensor:
    """The expected entries, and beyond them whatever the reader has there."""
    size, longer = pair.wanted.shape[number], pair.mine.clone()
    start = pair.mine.shape[number] - size if end == "first" else 0
    longer.narrow(number, start, size).copy_(pair.wanted)
    return longer


def _moved(number: int, by: int, pair: Pair) -> Tensor | None:
    """The expected entries moved by one; at the edge stands whatever the reader has there."""
    size = pair.wanted.shape[number]
    if not pair.alike or size < 3:
        return pair.mine if pair.right else None
    moved, edge = pair.wanted.roll(by, number), 0 if by == 1 else size - 1
    moved.select(number, edge).copy_(pair.mine.select(number, edge))
    return moved


def _in_my_order(pair: Pair) -> Tensor | None:
    if not pair.alike or pair.truths:
        return None
    ranks = pair.mine.flatten().argsort().argsort()
    return pair.wanted.flatten().sort().values[ranks].view_as(pair.mine)


def argument_itself(series: Series) -> str | None:
    """Return that wrong results are an argument as it came in."""
    for name in series.wrong[0].given:
        values = [as_values(pair.given.get(name)) for pair in series.wrong]
        if all(
            value is not None and value.dim() and torch.equal(value.double(), pair.mine)
            for value, pair in zip(values, series.wrong, strict=True)
        ):
            return f"your result is `{name}` itself, unchanged"
    return None
