"""Look for a relation between wrong results and the expected ones, the most telling first."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch

from walkthrough.checking.compare import difference
from walkthrough.checking.kinds import as_values
from walkthrough.checking.relations.entries import entry_relation
from walkthrough.checking.relations.evidence import Pair, Series
from walkthrough.checking.relations.lists import is_sizes, list_relation, size_relation
from walkthrough.checking.relations.parts import (
    Wrong,
    component_places,
    components,
    exchanged_parts,
    fit_together,
    kind_relation,
    right_but_for_kind,
)
from walkthrough.checking.relations.places import place_relation
from walkthrough.checking.relations.shapes import order_relation, permuted
from walkthrough.checking.relations.single import number_relation
from walkthrough.checking.relations.sums import row_relation, sum_relation
from walkthrough.checking.sentences import listed

Same = Callable[[Any, Any], bool]


def relation(
    cases: Sequence[Wrong], tolerance: float, same: Same, *, complete: bool = False
) -> str | None:
    """Return one sentence on how the results of all wrong cases relate to the right ones.

    With `complete`, only a sentence that accounts for all of each result: no part, no kind alone.
    """
    if not cases:
        return None
    if fit_together(cases):
        find = partial(_of_one, complete=complete)
        return exchanged_parts(cases, same) or _of_parts(
            cases, tolerance, same, find, complete=complete
        )
    if component_places(cases[0].wanted) is not None:
        return None if complete else difference(cases[0].mine, cases[0].wanted, tolerance)
    return _of_one(cases, tolerance, complete=complete)


def _of_parts(
    cases: Sequence[Wrong],
    tolerance: float,
    same: Same,
    find: Callable[[Sequence[Wrong], float], str | None],
    *,
    complete: bool = False,
) -> str | None:
    wrong_parts, said, n_parts = [], None, 0
    for name, part in components(cases):
        n_parts += 1
        wrong = [case for case in part if not same(case.mine, case.wanted)]
        if wrong:
            wrong_parts.append(name)
            found = None if said else find(wrong, tolerance)
            said = f"{name}: {found}" if found else said
    if said is None:
        return None
    others = [name for name in wrong_parts if not said.startswith(f"{name}:")]
    if not others:
        return f"{said}. All else is right" if n_parts > 1 else said
    if complete:
        return None
    names = listed([name.removeprefix("in ") for name in others[:3]])
    return f"{said}. Wrong too: {names}"


def _of_one(cases: Sequence[Wrong], tolerance: float, *, complete: bool = False) -> str | None:
    if all(is_sizes(case.wanted) for case in cases) and not isinstance(cases[0].mine, int):
        return size_relation(cases[0].mine, cases[0].wanted, cases[0].given)
    said = kind_relation(cases, tolerance)
    if said:
        return None if complete and not right_but_for_kind(cases) else said
    pairs = [_pair(case) for case in cases]
    whole = [pair for pair in pairs if pair is not None]
    if len(whole) < len(pairs):
        return list_relation([(case.mine, case.wanted) for case in cases])
    series = Series(whole, tolerance)
    if all(pair.wanted.numel() == 1 and pair.mine.numel() == 1 for pair in whole):
        return number_relation(series)
    said = (
        _returned_argument(series)
        or entry_relation(series)
        or _argument_besides(series)
        or order_relation(series)
    )
    first = whole[0]
    if said and not first.alike:
        return f"{said} (the shape should be {_shape(first.wanted)}, yours is {_shape(first.mine)})"
    return said


def _shape(values: torch.Tensor) -> tuple[int, ...]:
    return tuple(values.shape)


def weak_relation(cases: Sequence[Wrong], tolerance: float, same: Same) -> str | None:
    """Return what else can be said: over what values sum to 1, in what order, where it is wrong."""
    if cases and fit_together(cases):
        return _of_parts(cases, tolerance, same, _weak)
    return _weak(cases, tolerance)


def _weak(cases: Sequence[Wrong], tolerance: float) -> str | None:
    whole = [pair for pair in map(_pair, cases) if pair is not None]
    if not cases or len(whole) < len(cases) or any(not p.mine.dim() for p in whole):
        return None
    series = Series(whole, tolerance)
    return (
        place_relation(series) or sum_relation(series) or row_relation(series) or permuted(series)
    )


def _pair(case: Wrong) -> Pair | None:
    mine, wanted = as_values(case.mine), as_values(case.wanted)
    if mine is None or wanted is None or mine.is_complex() or wanted.is_complex():
        return None
    truths = mine.dtype == wanted.dtype == torch.bool
    if not truths and torch.bool in (mine.dtype, wanted.dtype):
        return None
    return Pair(mine.double(), wanted.double(), case.given, case.label, truths)


def _returned_argument(series: Series) -> str | None:
    for name in series.pairs[0].given:
        if series.explained(partial(_argument, name)):
            return f"your result is `{name}` itself, unchanged"
    return None


_BESIDES: tuple[tuple[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]], ...] = (
    ("`{}` is added once too often: without it", lambda wanted, value: wanted + value),
    ("`{}` is not added, or is taken away: with it", lambda wanted, value: wanted - value),
    ("`{}` is a factor too many: without it", lambda wanted, value: wanted * value),
    ("a factor `{}` is missing: with it", lambda wanted, value: wanted / value),
)


def _argument_besides(series: Series) -> str | None:
    """An argument added, taken away, multiplied or divided once too often, or not at all."""
    for name in series.pairs[0].given:
        for said, guess in _BESIDES:
            if series.explained(partial(_with, name, guess)):
                return f"{said.format(name)}, your result is the expected one"
    return None


def _argument(name: str, pair: Pair) -> torch.Tensor | None:
    value = as_values(pair.given.get(name))
    return None if value is None or not value.dim() else value.double()


def _with(name: str, guess: Any, pair: Pair) -> torch.Tensor | None:
    value = _argument(name, pair)
    if value is None:
        return None
    found = guess(pair.wanted, value)
    return found if isinstance(found, torch.Tensor) and found.shape == pair.wanted.shape else None
