"""Relations of sums: over which dimension values sum to 1, and what each row is multiplied by."""

from functools import partial

import torch
from torch import Tensor

from walkthrough.checking.compare import short
from walkthrough.checking.relations.evidence import Pair, Series
from walkthrough.checking.relations.names import axis


def sum_relation(series: Series) -> str | None:
    """Return over which dimension the result sums to 1 in the place of another, or None."""
    pairs = series.pairs
    if any(pair.truths or not pair.alike for pair in pairs) or not series.tells():
        return None
    dims = min(pair.wanted.dim() for pair in pairs)
    right = [-d for d in range(1, dims + 1) if all(_to_one(p.wanted, -d) for p in pairs)]
    mine = [-d for d in range(1, dims + 1) if all(_to_one(p.mine, -d) for p in pairs)]
    if not right or right[0] in mine:
        return None
    belongs = axis(dims + right[0], dims)
    if mine:
        return f"your values sum to 1 over {axis(dims + mine[0], dims)}; over {belongs} they should"
    if all(_to_one(p.mine, tuple(range(p.mine.dim()))) for p in pairs):
        return f"all your values together sum to 1; over {belongs} they should, row by row"
    sums = pairs[0].mine.sum(right[0])
    if bool(((sums - 1).abs() < 0.05).all()):
        return None
    low, high = short(float(sums.min())), short(float(sums.max()))
    between = low if low == high else f"anything from {low} to {high}"
    return f"over {belongs} your values sum to {between}; they should sum to 1"


def _to_one(values: Tensor, dim: int | tuple[int, ...]) -> bool:
    sums = values.sum(dim)
    return torch.allclose(sums, torch.ones_like(sums), atol=1e-4)


def row_relation(series: Series) -> str | None:
    """A factor or summand of its own for every row, or for every column."""
    if any(pair.truths or not pair.alike for pair in series.pairs):
        return None
    dims = min(pair.wanted.dim() for pair in series.pairs)
    for number in (-1, -2)[: dims if dims > 1 else 0]:
        if any(pair.wanted.shape[number] < 3 for pair in series.pairs):
            continue
        what = ("row", "column")[-1 - number]
        if series.explained(partial(_times_of_its_own, number), freedom=1):
            return (
                f"every {what} is the expected one times a number of its own: look at what you "
                f"divide or multiply each {what} by"
            )
        if series.explained(partial(_plus_of_its_own, number), freedom=1):
            return (
                f"every {what} is the expected one plus a number of its own: look at what you "
                f"add to each {what} or take from it"
            )
    return None


def _times_of_its_own(number: int, pair: Pair) -> Tensor:
    squares = (pair.wanted**2).sum(number, keepdim=True)
    return pair.wanted * (pair.mine * pair.wanted).sum(number, keepdim=True) / squares


def _plus_of_its_own(number: int, pair: Pair) -> Tensor:
    return pair.wanted + (pair.mine - pair.wanted).mean(number, keepdim=True)
