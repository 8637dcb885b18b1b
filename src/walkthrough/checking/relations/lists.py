"""Relations of lists, tuples of sizes, and texts: order, ends, groups, what is lost."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from walkthrough.checking.sentences import listed

Cases = Sequence[tuple[Any, Any]]


def list_relation(cases: Cases) -> str | None:
    """Return how lists or texts relate to the expected ones in all cases, or None."""
    if all(isinstance(x, str) for case in cases for x in case):
        return _first_true(_TEXTS, cases)
    plain = [(_plain(mine), _plain(wanted)) for mine, wanted in cases]
    if any(mine is None or wanted is None for mine, wanted in plain):
        return _text_for_list(cases)
    return _first_true(_LISTS, plain)


def _plain(value: Any) -> list[Any] | None:
    if hasattr(value, "tolist"):
        value = value.tolist()
    return list(value) if isinstance(value, (list, tuple)) else None


Rule = tuple[str, Callable[[Any, Any], bool]]


def _first_true(rules: Sequence[Rule], cases: Cases) -> str | None:
    for said, holds in rules:
        try:
            if all(holds(mine, wanted) for mine, wanted in cases):
                return said
        except (TypeError, ValueError, IndexError, AttributeError):
            continue
    return None


def _text_for_list(cases: Cases) -> str | None:
    joined = all(
        isinstance(mine, str)
        and isinstance(wanted, (list, tuple))
        and mine.replace(" ", "") == "".join(map(str, wanted)).replace(" ", "")
        for mine, wanted in cases
    )
    return "the parts are right, but joined to one text: return them apart" if joined else None


_TEXTS: tuple[Rule, ...] = (
    ("the text is right but for capital letters", lambda m, w: m.casefold() == w.casefold()),
    (
        "the text is right but for spaces",
        lambda m, w: "".join(m.split()) == "".join(w.split()),
    ),
    ("your text is the expected one backwards", lambda m, w: m == w[::-1] and len(set(w)) > 2),
)


def _counts(value: Any) -> Counter[str]:
    return Counter(map(repr, value))


def _flat(value: Any) -> list[Any]:
    if not isinstance(value, (list, tuple)):
        return [value]
    return [leaf for part in value for leaf in _flat(part)]


def _nested(value: Any) -> bool:
    return any(isinstance(part, (list, tuple)) for part in value)


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
        "the right parts, joined to fewer groups or cut into more: the order within is right",
        lambda m, w: _flat(m) == _flat(w) and _nested(w) and len(w) > 1,
    ),
    (
        "all expected entries are there, but in another order",
        lambda m, w: _counts(m) == _counts(w) and len(set(map(repr, w))) > 1,
    ),
    (
        "the right groups, but within a group the order is another",
        lambda m, w: (
            _nested(w) and [sorted(x, key=repr) for x in m] == [sorted(x, key=repr) for x in w]
        ),
    ),
    ("every number is 1 larger than expected", lambda m, w: _shifted(m, w, 1)),
    ("every number is 1 smaller than expected", lambda m, w: _shifted(m, w, -1)),
    (
        "the parts are right but for capital letters",
        lambda m, w: len(w) > 0 and [x.casefold() for x in m] == [x.casefold() for x in w],
    ),
    (
        "the parts are right but for spaces",
        lambda m, w: len(w) > 0 and [x.strip() for x in m] == [x.strip() for x in w],
    ),
    (
        "all expected entries are there, in other groups",
        lambda m, w: _nested(w) and _counts(_flat(m)) == _counts(_flat(w)) and len(_flat(w)) > 3,
    ),
    (
        "the groups have the right sizes, and every entry in them is another than expected",
        lambda m, w: _same_groups(m, w),
    ),
    (
        "the letters are right, cut at other places",
        lambda m, w: (
            all(isinstance(x, str) for x in (*m, *w)) and "".join(m) == "".join(w) and len(w) > 0
        ),
    ),
    (
        "every entry is the expected one moved by one place",
        lambda m, w: len(m) == len(w) > 2 and (m[1:] == w[:-1] or m[:-1] == w[1:]),
    ),
    (
        "some entries are missing; those that are there are right, in order",
        lambda m, w: 0 < len(m) < len(w) and _within(m, w),
    ),
    (
        "there are entries that do not belong; the expected ones are there, in order",
        lambda m, w: len(m) > len(w) > 0 and _within(w, m),
    ),
)


def _shifted(mine: Any, wanted: Any, by: int) -> bool:
    if isinstance(wanted, (list, tuple)):
        return (
            isinstance(mine, (list, tuple))
            and len(mine) == len(wanted) > 0
            and all(_shifted(m, w, by) for m, w in zip(mine, wanted, strict=True))
        )
    return bool(mine == wanted + by)


def _same_groups(mine: Any, wanted: Any) -> bool:
    """Nested lists of equal lengths, in which no number is where it belongs."""
    if not _nested(wanted) or [len(x) for x in mine] != [len(x) for x in wanted]:
        return False
    pairs = zip(_flat(mine), _flat(wanted), strict=True)
    return len(_flat(wanted)) > 1 and all(m != w for m, w in pairs)


def _within(part: Sequence[Any], whole: Sequence[Any]) -> bool:
    rest = iter(whole)
    return all(any(entry == other for other in rest) for entry in part)


# Sizes --------------------------------------------------------------------------------------------


def is_sizes(value: Any) -> bool:
    """Return whether a value is a shape: a tuple of whole numbers."""
    return isinstance(value, tuple) and bool(value) and all(type(size) is int for size in value)


def size_relation(mine: Any, wanted: tuple[int, ...], given: Mapping[str, Any]) -> str | None:
    """Return how a shape differs from the expected one, its sizes named by arguments."""
    if not isinstance(mine, (tuple, list)):
        return None
    names = {value: f" (`{name}`)" for name, value in given.items() if type(value) is int}
    said = f"{wanted} is expected, yours is {tuple(mine)}"
    if len(mine) != len(wanted):
        return f"{said}: too {'few' if len(mine) < len(wanted) else 'many'} sizes"
    if sorted(mine) == sorted(wanted):
        return f"{said}: the sizes are right, their order is not"
    wrong = [
        f"{size}{names.get(size, '')} stands where {right}{names.get(right, '')} belongs"
        for size, right in zip(mine, wanted, strict=True)
        if size != right
    ]
    return f"{said}: {listed(wrong)}"
