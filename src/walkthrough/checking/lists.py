"""What is seen of wrong lists and texts: order, ends, what is lost. True of all wrong cases."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

Rule = tuple[str, Callable[[Any, Any], bool]]


def list_described(results: Sequence[tuple[Any, Any]]) -> str | None:
    """Return what wrong lists or texts (yours, expected) have in common, or None."""
    if all(isinstance(one, str) for pair in results for one in pair):
        return _first_true(_TEXTS, results)
    plain = [(_plain(mine), _plain(wanted)) for mine, wanted in results]
    if any(mine is None or wanted is None for mine, wanted in plain):
        return None
    return _first_true(_LISTS, plain)


def _plain(value: Any) -> list[Any] | None:
    if hasattr(value, "tolist"):
        value = value.tolist()
    return list(value) if isinstance(value, (list, tuple)) else None


def _first_true(rules: Sequence[Rule], results: Sequence[tuple[Any, Any]]) -> str | None:
    for said, holds in rules:
        try:
            if all(holds(mine, wanted) for mine, wanted in results):
                return said
        except (TypeError, ValueError, IndexError, AttributeError):
            continue
    return None


_TEXTS: tuple[Rule, ...] = (
    ("the text is right but for capital letters", lambda m, w: m.casefold() == w.casefold()),
    ("the text is right but for spaces", lambda m, w: "".join(m.split()) == "".join(w.split())),
    ("your text is the expected one backwards", lambda m, w: m == w[::-1] and len(set(w)) > 2),
)

_LISTS: tuple[Rule, ...] = (
    ("your list is empty", lambda m, w: not m and bool(w)),
    ("your list is the expected one turned round", lambda m, w: m == w[::-1] and len(w) > 1),
    (
        "the last entry is missing, or several of them; the rest is right",
        lambda m, w: 0 < len(m) < len(w) and m == w[: len(m)],
    ),
    (
        "the first entry is missing, or several of them; the rest is right",
        lambda m, w: 0 < len(m) < len(w) and m == w[-len(m) :],
    ),
    (
        "there are entries too many at the end; those before them are right",
        lambda m, w: len(m) > len(w) > 0 and m[: len(w)] == w,
    ),
    (
        "there are entries too many in front; those after them are right",
        lambda m, w: len(m) > len(w) > 0 and m[-len(w) :] == w,
    ),
    (
        "all expected entries are there, but in another order",
        lambda m, w: _counts(m) == _counts(w) and len(set(map(repr, w))) > 1,
    ),
    (
        "the right entries, in other groups",
        lambda m, w: _counts(_flat(m)) == _counts(_flat(w)) and len(_flat(w)) > 3,
    ),
    ("every number is 1 larger than expected", lambda m, w: _flat(m) == _shifted(w, 1)),
    ("every number is 1 smaller than expected", lambda m, w: _flat(m) == _shifted(w, -1)),
    (
        "some entries are missing; those that are there are right, in order",
        lambda m, w: 0 < len(m) < len(w) and _within(m, w),
    ),
    (
        "there are entries that do not belong; the expected ones are there, in order",
        lambda m, w: len(m) > len(w) > 0 and _within(w, m),
    ),
)


def _counts(value: Any) -> Counter[str]:
    return Counter(map(repr, value))


def _flat(value: Any) -> list[Any]:
    if not isinstance(value, (list, tuple)):
        return [value]
    return [leaf for part in value for leaf in _flat(part)]


def _shifted(wanted: list[Any], by: int) -> list[Any]:
    return [leaf + by for leaf in _flat(wanted)]


def _within(part: Sequence[Any], whole: Sequence[Any]) -> bool:
    rest = iter(whole)
    return all(any(entry == other for other in rest) for entry in part)
