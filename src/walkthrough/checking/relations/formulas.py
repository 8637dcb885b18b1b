"""Numbers in terms of the arguments: a factor, a summand, or the whole result as a product."""

import math
from collections.abc import Iterator, Sequence
from itertools import combinations, product

from walkthrough.checking.compare import short
from walkthrough.checking.relations.evidence import Series

Numbers = Sequence[float]

_SMALL = (1, 2, 3, 4, 6, 8, 1 / 2, 1 / 3, 1 / 4, 3 / 2, 2 / 3, 3 / 4)
_POWERS = (1, -1, 2, -2, 0.5, -0.5)
MOST_TERMS = 24


def formula_relation(series: Series, mine: Numbers, wanted: Numbers) -> str | None:
    """Return how results differ from the expected ones in terms of the arguments, or None."""
    names, values = _arguments(series)
    if len(mine) < 2 or not names:
        return None
    for name, row in zip(names, values, strict=True):
        if varied(row) and agree(mine, row, 1e-9):
            return f"your result is the argument `{name}` itself"
    ratios = [m / w if w else math.nan for m, w in zip(mine, wanted, strict=True)]
    found = _monomial(names, values, ratios)
    if found:
        return f"your result is the expected one times {found} in every case"
    gaps = [m - w for m, w in zip(mine, wanted, strict=True)]
    return (
        _gap_said(names, values, gaps, "your result is", "than the expected one")
        or _whole_said(names, values, mine)
        or _inverse_said(names, values, mine, wanted)
        or _proportional(names, values, ratios)
    )


def _gap_said(
    names: list[str], values: list[list[float]], gaps: Numbers, subject: str, end: str
) -> str | None:
    for said, sign in (("larger", 1), ("smaller", -1)):
        signed = [sign * gap for gap in gaps]
        found = _monomial(names, values, signed) or _two_terms(names, values, signed)
        if found:
            return f"{subject} {said} {end} by {found} in every case"
    return None


def _whole_said(names: list[str], values: list[list[float]], mine: Numbers) -> str | None:
    found = _monomial(names, values, mine)
    return f"your result is {found} in every case" if found else None


def _inverse_said(
    names: list[str], values: list[list[float]], mine: Numbers, wanted: Numbers
) -> str | None:
    """A term missing from a divisor."""
    if not all(mine) or not all(wanted):
        return None
    gaps = [1 / m - 1 / w for m, w in zip(mine, wanted, strict=True)]
    if varied(wanted) and agree(gaps, [-1.0] * len(gaps), 1e-6):
        return "you divide a part by the rest: divide it by the whole, itself included"
    if varied(wanted) and agree(gaps, [1.0] * len(gaps), 1e-6):
        return "the part is counted twice in what you divide by"
    subject = "look at what you divide by: 1 / your result is"
    return _gap_said(names, values, gaps, subject, "than it should be")


def _proportional(names: list[str], values: list[list[float]], ratios: Numbers) -> str | None:
    """A power of an argument and a fixed number: an argument replaced by a constant."""
    if len(ratios) < 3 or not varied(ratios) or not all(r > 0 for r in ratios):
        return None
    for number, row in enumerate(values):
        for power in _POWERS if min(row) > 0 else ():
            rest = [r / v**power for r, v in zip(ratios, row, strict=True)]
            if varied(row) and agree(rest, [rest[0]] * len(rest), 1e-6):
                return (
                    f"your result is the expected one times {short(rest[0], 4)} · "
                    f"{_written(1, [names[number]], [power])} in every case: is a fixed number in "
                    f"the place of `{names[number]}`?"
                )
    return None


def agree(some: Numbers, others: Numbers, tolerance: float) -> bool:
    """Return whether numbers are equal, each beside each."""
    return all(
        math.isclose(one, other, rel_tol=max(tolerance, 1e-6), abs_tol=1e-12)
        for one, other in zip(some, others, strict=True)
    )


def varied(numbers: Numbers) -> bool:
    """Return whether numbers differ, so that a rule that holds for all is no chance."""
    return len({f"{number:.4g}" for number in numbers}) >= 2


def _arguments(series: Series) -> tuple[list[str], list[list[float]]]:
    names, values = [], []
    for name in series.pairs[0].given:
        row = [pair.given.get(name) for pair in series.pairs]
        if all(isinstance(x, (int, float)) and not isinstance(x, bool) and x for x in row):
            names.append(name)
            values.append([float(x) for x in row])  # type: ignore[arg-type]
    return names, values


def _monomial(names: list[str], values: list[list[float]], aim: Numbers) -> str | None:
    """Return a small number times powers of arguments that gives `aim` in every case."""
    if not all(math.isfinite(number) and number for number in aim) or not varied(aim):
        return None
    for chosen, powers in _forms(len(names)):
        rooted = [c for c, p in zip(chosen, powers, strict=True) if not float(p).is_integer()]
        if any(value < 0 for c in rooted for value in values[c]):
            continue
        row = [
            math.prod(values[c][case] ** p for c, p in zip(chosen, powers, strict=True))
            for case in range(len(aim))
        ]
        for small in _SMALL:
            if agree([small * number for number in row], aim, 1e-6):
                return _written(small, [names[c] for c in chosen], powers)
    return None


def _forms(n_names: int) -> Iterator[tuple[tuple[int, ...], tuple[float, ...]]]:
    for size in (1, 2, 3):
        allowed = _POWERS if size < 3 else (1, -1)
        for chosen in combinations(range(n_names), size):
            yield from ((chosen, powers) for powers in product(allowed, repeat=size))


def _two_terms(names: list[str], values: list[list[float]], aim: Numbers) -> str | None:
    """Two whole multiples of products of arguments that sum to `aim`; for counts, three cases."""
    if len(aim) < 3 or not varied(aim) or not all(float(number).is_integer() for number in aim):
        return None
    terms = []
    for size in (1, 2, 3):
        for chosen in combinations(range(len(names)), size):
            for powers in product((1, 2), repeat=size):
                if sum(powers) <= 3:
                    row = [
                        math.prod(values[c][k] ** p for c, p in zip(chosen, powers, strict=True))
                        for k in range(len(aim))
                    ]
                    terms.append((chosen, powers, row))
    for one, other in combinations(terms, 2):
        found = _solved(one[2], other[2], aim)
        if found:
            parts = [
                _written(n, [names[c] for c in term[0]], term[1])
                for n, term in zip(found, (one, other), strict=True)
            ]
            return " + ".join(parts)
    return None


def _solved(one: Numbers, other: Numbers, aim: Numbers) -> tuple[float, float] | None:
    below = one[0] * other[1] - one[1] * other[0]
    if not below:
        return None
    first = (aim[0] * other[1] - aim[1] * other[0]) / below
    second = (one[0] * aim[1] - one[1] * aim[0]) / below
    n_first, n_second = round(first), round(second)
    if not (0 < n_first <= MOST_TERMS and 0 < n_second <= MOST_TERMS):
        return None
    made = [n_first * x + n_second * y for x, y in zip(one, other, strict=True)]
    return (n_first, n_second) if agree(made, aim, 1e-9) else None


def _written(small: float, names: list[str], powers: Sequence[float]) -> str:
    shown = {1 / 2: "1/2", 1 / 3: "1/3", 1 / 4: "1/4", 3 / 2: "3/2", 2 / 3: "2/3", 3 / 4: "3/4"}
    parts = [shown.get(small, f"{small:g}")] if small != 1 else []
    signs = {1: "", -1: "^−1", 2: "²", -2: "^−2", 0.5: "^½", -0.5: "^−½"}
    parts += [f"`{name}`{signs[power]}" for name, power in zip(names, powers, strict=True)]
    return " · ".join(parts)
