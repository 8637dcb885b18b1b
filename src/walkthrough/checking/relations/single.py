"""Relations of single numbers: they hold from case to case, or in terms of the arguments."""

import math
from collections.abc import Callable, Sequence

from walkthrough.checking.compare import short
from walkthrough.checking.relations.evidence import Series
from walkthrough.checking.relations.formulas import agree, formula_relation, varied

Numbers = Sequence[float]


def number_relation(series: Series) -> str | None:
    """Return how single numbers relate to the expected ones, or None."""
    if any(pair.truths for pair in series.pairs):
        return None
    mine = [float(pair.mine) for pair in series.pairs]
    wanted = [float(pair.wanted) for pair in series.pairs]
    if not all(map(math.isfinite, (*mine, *wanted))):
        return "your result is not a finite number" if not all(map(math.isfinite, mine)) else None
    tolerance = max(series.tolerance, 1e-9)
    return (
        _simple(mine, wanted, tolerance)
        or formula_relation(series, mine, wanted)
        or _constant(mine, wanted)
    )


_SIMPLE: tuple[tuple[str, Callable[[float], float]], ...] = (
    ("your result has the opposite sign", lambda x: -x),
    ("your result is 1 over the expected one", lambda x: 1 / x),
    ("your result is minus 1 over the expected one", lambda x: -1 / x),
    ("your result is 1 minus the expected one", lambda x: 1 - x),
    ("your result is the expected one minus 1", lambda x: x - 1),
    ("your result is the expected one plus 1", lambda x: x + 1),
    ("your result is the square of the expected one", lambda x: x * x),
    ("your result is the root of the expected one", lambda x: math.sqrt(x)),
    ("your result is the logarithm of the expected one", lambda x: math.log(x)),
    ("your result is the logarithm to the base 2 of the expected one", lambda x: math.log2(x)),
    ("your result is the exponential of the expected one", lambda x: math.exp(x)),
    ("your result is the expected one in per cent", lambda x: 100 * x),
    ("your result is a hundredth of the expected one", lambda x: x / 100),
    ("your result is the expected one rounded to a whole number", lambda x: float(round(x))),
    ("your result is the expected one rounded to one decimal", lambda x: round(x, 1)),
    ("your result is the expected one rounded to two decimals", lambda x: round(x, 2)),
    ("your result is the expected one rounded to three decimals", lambda x: round(x, 3)),
    ("your result is the expected one rounded down", lambda x: float(math.floor(x))),
    ("your result is the expected one rounded up", lambda x: float(math.ceil(x))),
)


def _simple(mine: Numbers, wanted: Numbers, tolerance: float) -> str | None:
    for said, change in _SIMPLE:
        guesses = [_or_nan(change, number) for number in wanted]
        if agree(guesses, mine, tolerance) and _telling(mine, wanted):
            return said
    ratios = [m / w for m, w in zip(mine, wanted, strict=True) if w]
    same_ratio = len(ratios) == len(mine) > 1 and agree(ratios, [ratios[0]] * len(ratios), 1e-6)
    if same_ratio and varied(wanted) and ratios[0]:
        return f"your result is {short(ratios[0], 4)} times the expected one in every case"
    gaps = [m - w for m, w in zip(mine, wanted, strict=True)]
    if len(gaps) > 1 and varied(wanted) and agree(gaps, [gaps[0]] * len(gaps), 1e-6):
        return f"your result is the expected one plus {short(gaps[0], 4)} in every case"
    return None


def _or_nan(change: Callable[[float], float], number: float) -> float:
    try:
        return change(number)
    except (ValueError, ZeroDivisionError, OverflowError):
        return math.nan


def _telling(mine: Numbers, wanted: Numbers) -> bool:
    """One number tells only if it has digits: 3 and 1/3 may meet by chance."""
    precise = any(len(f"{abs(x):.6g}".replace(".", "").strip("0")) >= 4 for x in mine)
    return precise or (len(mine) > 1 and varied(wanted) and varied(mine))


def _constant(mine: Numbers, wanted: Numbers) -> str | None:
    if len(mine) > 2 and not varied(mine) and varied(wanted):
        return f"your result is {short(mine[0])} whatever the arguments are"
    return None
