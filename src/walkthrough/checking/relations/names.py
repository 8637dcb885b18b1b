"""Names for the numbers and dimensions that a relation speaks of."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor

from walkthrough.checking.compare import short

_CONSTANTS = {
    "−1": -1.0,
    **{str(n): float(n) for n in (2, 3, 4, 5, 6, 8, 10, 12, 16, 100, 1000)},
    **{f"1/{n}": 1 / n for n in (2, 3, 4, 5, 6, 8, 10, 12, 16, 100, 1000)},
    "√2": math.sqrt(2),
    "1/√2": math.sqrt(0.5),
    "ln 2": math.log(2),
    "1/ln 2": 1 / math.log(2),
    "ln 10": math.log(10),
    "π": math.pi,
    "2π": math.tau,
    "1/2π": 1 / math.tau,
    "e": math.e,
}


def sizes(given: Mapping[str, Any]) -> dict[str, float]:
    """Return the sizes that a case's arguments hold, by what one would call them."""
    found: dict[str, float] = {}
    for name, value in given.items():
        if isinstance(value, Tensor):
            for place, size in enumerate(value.shape):
                last = place == value.dim() - 1
                found[f"{name}.shape[{-1 if last else place}]"] = float(size)
        elif isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0:
            found[name] = float(value)
        elif isinstance(value, (list, tuple)):
            found[f"len({name})"] = float(len(value))
    return found


def factor_name(factors: Sequence[float], given: Sequence[Mapping[str, Any]]) -> str | None:
    """Return what a factor is in all cases, such as "√4 (`key.shape[-1]`)"; None if unknown."""
    for name, constant in _CONSTANTS.items():
        if all(math.isclose(factor, constant, rel_tol=1e-3) for factor in factors):
            return name
    every = [sizes(one) for one in given]
    for name in sorted(every[0], key=lambda name: not name.endswith("[-1]")):
        values = [one.get(name, math.nan) for one in every]
        for pattern, power in (("√{}", 0.5), ("1/√{}", -0.5), ("{}", 1), ("1/{}", -1)):
            if all(
                value > 1 and math.isclose(factor, value**power, rel_tol=1e-3)
                for factor, value in zip(factors, values, strict=True)
            ):
                return f"{pattern.format(short(values[0]))}, where {short(values[0])} is `{name}`"
    return None


def axis(number: int, dims: int) -> str:
    """Return what to call a dimension."""
    if dims > 1 and number == dims - 1:
        return f"the last dimension ({number})"
    return f"dimension {number}"


def slice_of(number: int, dims: int) -> str:
    """Return what one place along a dimension is called: an entry, a row, a column."""
    if dims == 1:
        return "entry"
    if dims == 2:
        return ("row", "column")[number]
    return f"slice along {axis(number, dims)}"


def exchange(order: Sequence[int]) -> str:
    """Return a permutation of dimensions in words."""
    moved = [place for place, old in enumerate(order) if place != old]
    if len(order) == 2:
        return "transposed: rows and columns are exchanged"
    if len(moved) == 2:
        return f"transposed: dimensions {moved[0]} and {moved[1]} are exchanged"
    return f"with its dimensions in another order: {tuple(order)} of the expected ones"
