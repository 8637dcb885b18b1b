"""What is said of a wrong answer that no author foresaw: the case, the entry, a proved relation."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

from walkthrough.checking.compare import difference
from walkthrough.checking.evidence import Tried, series_of
from walkthrough.checking.kinds import as_values
from walkthrough.checking.lists import list_described
from walkthrough.checking.places import described
from walkthrough.checking.relations import argument_itself, relation
from walkthrough.checking.running import Raised
from walkthrough.checking.sentences import joined, listed
from walkthrough.checking.stops import stop_said
from walkthrough.checking.telling import cases_said, example, smallest

Same = Callable[[Any, Any], bool]

_ENOUGH = ("the expected", "is expected", "are expected", "itself", "where", "should be", "missing")
"""Words of sentences that need no example beside them."""


def diagnosis(
    function: Callable[..., Any], tried: Sequence[Tried], same: Same, tolerance: float
) -> str:
    """Return the sentences on a function whose results are not all as expected."""
    wrong = [one for one in tried if not one.right]
    answered = [one for one in wrong if one.mine is not None and not isinstance(one.mine, Raised)]
    if not answered or isinstance(wrong[0].mine, Raised):
        said, n_right = _no_answer(function, wrong[0]), len(tried) - len(wrong)
        return f"{said} ({n_right} of {len(tried)} cases are right)" if n_right else said
    complete = [one for one in tried if one.right or one in answered]
    try:
        found = _of_results(complete, same, tolerance)
    except Exception:  # a verdict must come, whatever kind of result a reader returns
        found = None
    others = [_no_answer(function, one) for one in wrong if one not in answered]
    return joined(_told(function, tried, answered, found, tolerance), *others[:1])


def _told(
    function: Callable[..., Any],
    tried: Sequence[Tried],
    answered: Sequence[Tried],
    found: str | None,
    tolerance: float,
) -> str:
    """The cases that fail where others do not, what was found, what is special, an example."""
    wrong = [one for one in tried if not one.right]
    where = cases_said([(one.case.label, one.right) for one in tried])
    if len(wrong) < len(tried):
        special = {one.case.special for one in wrong}
        if len(special) == 1 and special != {""}:
            return f"{where}. {special.pop()}"
        if found:
            return f"{where}: {found}"
    elif found and any(words in found for words in _ENOUGH):
        return found
    where = found or where
    least = answered[smallest([one.given for one in answered])]
    shown = example(function, least.given, least.mine, least.wanted)
    shown = shown or str(difference(least.mine, least.wanted, tolerance))
    return f"{where}: {shown}" if len(wrong) == 1 else f"{where}. For {least.case.label}: {shown}"


def _no_answer(function: Callable[..., Any], one: Tried) -> str:
    if isinstance(one.mine, Raised):
        return stop_said(function, one.mine.error, one.case.label)
    return (
        f"for {one.case.label} your function returns nothing: does every way through it end with "
        "a `return`?"
    )


# Results of several parts -------------------------------------------------------------------------


def _of_results(tried: Sequence[Tried], same: Same, tolerance: float) -> str | None:
    places = _places(tried[0].wanted)
    if places is None:
        return _of_one(tried, tolerance)
    if not all(_fits(one, places) for one in tried):
        first = next(one for one in tried if not one.right)
        return difference(first.mine, first.wanted, tolerance)
    return _exchanged(tried, places, same) or _of_parts(tried, places, same, tolerance)


def _places(wanted: Any) -> list[Any] | None:
    """Return the keys or indices of a result that is several results; None for a single one."""
    if isinstance(wanted, dict):
        return list(wanted)
    flat = isinstance(wanted, tuple) and all(isinstance(x, (int, float, str)) for x in wanted)
    return list(range(len(wanted))) if isinstance(wanted, tuple) and not flat else None


def _fits(one: Tried, places: Sequence[Any]) -> bool:
    if isinstance(one.wanted, dict):
        return isinstance(one.mine, dict) and set(one.mine) == set(one.wanted) == set(places)
    return isinstance(one.mine, (tuple, list)) and len(one.mine) == len(one.wanted) == len(places)


def _of_parts(
    tried: Sequence[Tried], places: Sequence[Any], same: Same, tolerance: float
) -> str | None:
    parts = {_name(place): [one.part(place, same) for one in tried] for place in places}
    wrong = {name: part for name, part in parts.items() if not all(one.right for one in part)}
    for name, part in wrong.items():
        found = _of_one(part, tolerance)
        if found:
            others = [other for other in wrong if other != name][:3]
            rest = f"Wrong too: {listed(others)}" if others else "All else is right"
            return f"in {name}: {found}. {rest}" if len(places) > 1 else f"in {name}: {found}"
    return None


def _name(place: Any) -> str:
    return f"`{place}`" if isinstance(place, str) else f"result {place + 1}"


def _exchanged(tried: Sequence[Tried], places: Sequence[Any], same: Same) -> str | None:
    """Return that the results of a tuple, or the entries of a dictionary, have changed places."""
    orders = {tuple(_order(one, places, same)) for one in tried}
    order = orders.pop()
    if orders or None in order or len(set(order)) < len(order) or order == tuple(places):
        return None
    names = listed([_name(place).removeprefix("result ") for place in order])
    return f"the results are right, and in another order: yours are the expected {names}"


def _order(one: Tried, places: Sequence[Any], same: Same) -> Iterator[Any]:
    for place in places:
        fits = [other for other in places if same(one.mine[place], one.wanted[other])]
        yield fits[0] if len(fits) == 1 else None


# One result ---------------------------------------------------------------------------------------


def _of_one(tried: Sequence[Tried], tolerance: float) -> str | None:
    wrong = [one for one in tried if not one.right]
    kind = _of_kind(wrong, tolerance)
    if kind:
        return kind
    in_a_row = [(one.mine, one.wanted) for one in wrong]
    if isinstance(wrong[0].wanted, tuple):  # a shape, which is read as a whole
        said, gap = list_described(in_a_row), difference(*in_a_row[0], tolerance)
        return f"{gap}: {said}" if said else gap
    series = series_of(tried, tolerance)
    if series is None:
        return list_described(in_a_row)
    said = argument_itself(series) or relation(series)
    if all(pair.alike for pair in series.wrong):
        return said or described(series)
    if isinstance(wrong[0].wanted, (list, tuple)) and not said:
        return list_described(in_a_row)
    gap = difference(*in_a_row[0], tolerance)
    return f"{said} ({gap})" if said else gap


def _of_kind(wrong: Sequence[Tried], tolerance: float) -> str | None:
    """Return that results are of another kind than expected: texts, truth values, floats."""
    first = wrong[0]
    values = [(as_values(one.mine), as_values(one.wanted)) for one in wrong]
    said = difference(first.mine, first.wanted, tolerance)
    mine, wanted = values[0]
    if mine is None or wanted is None:
        lists = all(isinstance(one, (list, tuple)) for one in (first.mine, first.wanted))
        return None if lists or isinstance(first.mine, type(first.wanted)) else said
    truths = (mine.dtype == torch.bool) != (wanted.dtype == torch.bool)
    floats = wanted.dim() and mine.is_floating_point() and not wanted.is_floating_point()
    if mine.is_complex() or not (truths or floats):
        return said if mine.is_complex() else None
    right = all(
        one is not None and other is not None and torch.equal(one.double(), other.double())
        for one, other in values
    )
    return f"{said}; apart from that the result is right" if right else said
