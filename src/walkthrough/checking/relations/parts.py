"""Take results apart into what can be compared: numbers, tensors, the parts of tuples and dicts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from walkthrough.checking.compare import difference
from walkthrough.checking.kinds import as_values
from walkthrough.checking.sentences import listed


@dataclass(frozen=True)
class Wrong:
    """A wrong case: the reader's result, the expected one, and the arguments by name."""

    mine: Any
    wanted: Any
    given: Mapping[str, Any]
    label: str


def component_places(wanted: Any) -> list[Any] | None:
    """Return the keys or indices of a result that is several results; None for a single one."""
    if isinstance(wanted, dict):
        return list(wanted)
    if isinstance(wanted, tuple) and len(wanted) > 1 and not _is_flat(wanted):
        return list(range(len(wanted)))
    return None


def _is_flat(value: Sequence[Any]) -> bool:
    return all(isinstance(part, (int, float, str)) for part in value)


def components(cases: Sequence[Wrong]) -> Iterator[tuple[str, list[Wrong]]]:
    """Yield each part of results that are tuples or dictionaries, for all wrong cases."""
    for place in component_places(cases[0].wanted) or []:
        name = f"in `{place}`" if isinstance(place, str) else f"in result {place + 1}"
        part = [
            Wrong(case.mine[place], case.wanted[place], case.given, case.label) for case in cases
        ]
        yield name, part


def fit_together(cases: Sequence[Wrong]) -> bool:
    """Return whether every case has the same parts in both results."""
    for case in cases:
        places = component_places(case.wanted)
        if places is None:
            return False
        if isinstance(case.wanted, dict):
            if not isinstance(case.mine, dict) or set(case.mine) != set(case.wanted):
                return False
        elif not isinstance(case.mine, (tuple, list)) or len(case.mine) != len(places):
            return False
    return True


def kind_relation(cases: Sequence[Wrong], tolerance: float) -> str | None:
    """Return that results are of another kind than expected: texts, truth values, floats."""
    mine, wanted = as_values(cases[0].mine), as_values(cases[0].wanted)
    if mine is None or wanted is None:
        both = isinstance(cases[0].wanted, (list, tuple, str)) and isinstance(
            cases[0].mine, (list, tuple, str)
        )
        if both or (mine is None) == (wanted is None):
            return None
        return difference(cases[0].mine, cases[0].wanted, tolerance)
    truths = (mine.dtype == torch.bool) != (wanted.dtype == torch.bool)
    floats = wanted.dim() > 0 and not wanted.is_floating_point() and mine.is_floating_point()
    if not (truths or floats or mine.is_complex()):
        return None
    right = right_but_for_kind(cases)
    said = difference(cases[0].mine, cases[0].wanted, tolerance)
    return f"{said}; apart from that the result is right" if right else said


def right_but_for_kind(cases: Sequence[Wrong]) -> bool:
    """Return whether the numbers are right in every case, though they are of another kind."""
    return all(map(_same_but_for_kind, cases))


def _same_but_for_kind(case: Wrong) -> bool:
    mine, wanted = as_values(case.mine), as_values(case.wanted)
    if mine is None or wanted is None or mine.is_complex():
        return False
    return torch.equal(mine.double(), wanted.double())


def exchanged_parts(cases: Sequence[Wrong], same: Any) -> str | None:
    """Return that the results of a tuple, or the entries of a dictionary, have changed places."""
    places = component_places(cases[0].wanted)
    if not places:
        return None
    found: list[int] | None = None
    for case in cases:
        order = [_place_of(case.mine[place], case.wanted, places, same) for place in places]
        if None in order or len(set(order)) != len(order) or (found and found != order):
            return None
        found = [index for index in order if index is not None]
    if not found or found == list(range(len(places))):
        return None
    names = [f"`{place}`" if isinstance(place, str) else f"{place + 1}" for place in places]
    said = listed([names[index] for index in found])
    return f"the results are right, and in another order: yours are the expected {said}"


def _place_of(mine: Any, wanted: Any, places: Sequence[Any], same: Any) -> int | None:
    fits = [index for index, place in enumerate(places) if same(mine, wanted[place])]
    return fits[0] if len(fits) == 1 else None
