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
    wrong = [trial for trial in tried if not trial.right]
    answered = [
        trial for trial in wrong if trial.mine is not None and not isinstance(trial.mine, Raised)
    ]
    if not answered or isinstance(wrong[0].mine, Raised):
        sentence, n_right = _no_answer(function, wrong[0]), len(tried) - len(wrong)
        return f"{sentence} ({n_right} of {len(tried)} cases are right)" if n_right else sentence
    complete = [trial for trial in tried if trial.right or trial in answered]
    try:
        finding = _of_results(complete, same, tolerance)
    except Exception:  # a verdict must come, whatever kind of result a reader returns
        finding = None
    others = [_no_answer(function, trial) for trial in wrong if trial not in answered]
    return joined(_told(function, tried, answered, finding, tolerance), *others[:1])


def _told(
    function: Callable[..., Any],
    tried: Sequence[Tried],
    answered: Sequence[Tried],
    finding: str | None,
    tolerance: float,
) -> str:
    """The cases that fail where others do not, what was found, what is special, an example."""
    wrong = [trial for trial in tried if not trial.right]
    where = cases_said([(trial.case.label, trial.right) for trial in tried])
    if len(wrong) < len(tried):
        special = {trial.case.special for trial in wrong}
        if len(special) == 1 and special != {""}:
            return f"{where}. {special.pop()}"
        if finding:
            return f"{where}: {finding}"
    elif finding and any(words in finding for words in _ENOUGH):
        return finding
    where = finding or where
    least = answered[smallest([trial.given for trial in answered])]
    shown = example(function, least.given, least.mine, least.wanted)
    shown = shown or str(difference(least.mine, least.wanted, tolerance))
    return f"{where}: {shown}" if len(wrong) == 1 else f"{where}. For {least.case.label}: {shown}"


def _no_answer(function: Callable[..., Any], trial: Tried) -> str:
    if isinstance(trial.mine, Raised):
        return stop_said(function, trial.mine.error, trial.case.label)
    return (
        f"for {trial.case.label} your function returns nothing: does every way through it end with "
        "a `return`?"
    )


# Results of several parts -------------------------------------------------------------------------


def _of_results(tried: Sequence[Tried], same: Same, tolerance: float) -> str | None:
    places = _places(tried[0].wanted)
    if places is None:
        return _of_one(tried, tolerance)
    if not all(_fits(trial, places) for trial in tried):
        first = next(trial for trial in tried if not trial.right)
        return difference(first.mine, first.wanted, tolerance)
    return _exchanged(tried, places, same) or _of_parts(tried, places, same, tolerance)


def _places(wanted: Any) -> list[Any] | None:
    """Return the keys or indices of a result that is several results; None for a single one."""
    if isinstance(wanted, dict):
        return list(wanted)
    flat = isinstance(wanted, tuple) and all(isinstance(x, (int, float, str)) for x in wanted)
    return list(range(len(wanted))) if isinstance(wanted, tuple) and not flat else None


def _fits(trial: Tried, places: Sequence[Any]) -> bool:
    mine, wanted = trial.mine, trial.wanted
    if isinstance(wanted, dict):
        return isinstance(mine, dict) and set(mine) == set(wanted) == set(places)
    return isinstance(mine, (tuple, list)) and len(mine) == len(wanted) == len(places)


def _of_parts(
    tried: Sequence[Tried], places: Sequence[Any], same: Same, tolerance: float
) -> str | None:
    parts = {_name(place): [trial.part(place, same) for trial in tried] for place in places}
    wrong = {name: part for name, part in parts.items() if not all(trial.right for trial in part)}
    for name, part in wrong.items():
        finding = _of_one(part, tolerance)
        if finding:
            others = [other for other in wrong if other != name][:3]
            rest = f"Wrong too: {listed(others)}" if others else "All else is right"
            return f"in {name}: {finding}. {rest}" if len(places) > 1 else f"in {name}: {finding}"
    return None


def _name(place: Any) -> str:
    return f"`{place}`" if isinstance(place, str) else f"result {place + 1}"


def _exchanged(tried: Sequence[Tried], places: Sequence[Any], same: Same) -> str | None:
    """Return that the results of a tuple, or the entries of a dictionary, have changed places."""
    orders = {tuple(_order(trial, places, same)) for trial in tried}
    order = orders.pop()
    if orders or None in order or len(set(order)) < len(order) or order == tuple(places):
        return None
    names = listed([_name(place).removeprefix("result ") for place in order])
    return f"the results are right, and in another order: yours are the expected {names}"


def _order(trial: Tried, places: Sequence[Any], same: Same) -> Iterator[Any]:
    for place in places:
        fits = [other for other in places if same(trial.mine[place], trial.wanted[other])]
        yield fits[0] if len(fits) == 1 else None


# One result ---------------------------------------------------------------------------------------


def _of_one(tried: Sequence[Tried], tolerance: float) -> str | None:
    wrong = [trial for trial in tried if not trial.right]
    kind = _of_kind(wrong, tolerance)
    if kind:
        return kind
    in_a_row = [(trial.mine, trial.wanted) for trial in wrong]
    if isinstance(wrong[0].wanted, tuple):  # a shape, which is read as a whole
        finding, gap = list_described(in_a_row), difference(*in_a_row[0], tolerance)
        return f"{gap}: {finding}" if finding else gap
    series = series_of(tried, tolerance)
    if series is None:
        return list_described(in_a_row)
    finding = argument_itself(series) or relation(series)
    if all(pair.alike for pair in series.wrong):
        return finding or described(series)
    if isinstance(wrong[0].wanted, (list, tuple)) and not finding:
        return list_described(in_a_row)
    gap = difference(*in_a_row[0], tolerance)
    return f"{finding} ({gap})" if finding else gap


def _of_kind(wrong: Sequence[Tried], tolerance: float) -> str | None:
    """Return that results are of another kind than expected: texts, truth values, floats."""
    first = wrong[0]
    values = [(as_values(one.mine), as_values(one.wanted)) for one in wrong]
    sentence = difference(first.mine, first.wanted, tolerance)
    mine, wanted = values[0]
    if mine is None or wanted is None:
        lists = all(isinstance(one, (list, tuple)) for one in (first.mine, first.wanted))
        return None if lists or isinstance(first.mine, type(first.wanted)) else sentence
    truths = (mine.dtype == torch.bool) != (wanted.dtype == torch.bool)
    floats = wanted.dim() and mine.is_floating_point() and not wanted.is_floating_point()
    if mine.is_complex() or not (truths or floats):
        return sentence if mine.is_complex() else None
    right = all(
        one is not None and other is not None and torch.equal(one.double(), other.double())
        for one, other in values
    )
    return f"{sentence}; apart from that the result is right" if right else sentence
