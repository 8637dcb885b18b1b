"""What is seen of wrong lists and texts: order, ends, what is lost. True of all wrong cases."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any


def list_described(results: Sequence[tuple[Any, Any]]) -> str | None:
    """Return what wrong lists or texts (yours, expected) have in common, or None."""
    texts = all(isinstance(entry, str) for pair in results for entry in pair)
    pairs = [pair if texts else tuple(map(_plain, pair)) for pair in results]
    if any(None in pair for pair in pairs):
        return None
    seen = [list(_of_texts(*pair) if texts else _of_lists(*pair)) for pair in pairs]
    return next(
        (sentence for sentence in seen[0] if all(sentence in others for others in seen)), None
    )


def _plain(value: Any) -> list[Any] | None:
    value = value.tolist() if hasattr(value, "tolist") else value
    return list(value) if isinstance(value, (list, tuple)) else None


def _of_texts(mine: str, wanted: str) -> Iterator[str]:
    if mine.casefold() == wanted.casefold():
        yield "the text is right but for capital letters"
    if "".join(mine.split()) == "".join(wanted.split()):
        yield "the text is right but for spaces"


def _of_lists(mine: list[Any], wanted: list[Any]) -> Iterator[str]:
    leaves, wanted_leaves = _leaves(mine), _leaves(wanted)
    if not mine:
        yield "your list is empty"
    elif mine == wanted[::-1]:
        yield "your list is the expected one turned round"
    elif len(mine) < len(wanted):
        if mine == wanted[: len(mine)]:
            yield "the last entry is missing, or several of them; the rest is right"
        if mine == wanted[-len(mine) :]:
            yield "the first entry is missing, or several of them; the rest is right"
        if _within(mine, wanted):
            yield "some entries are missing; those that are there are right, in order"
    elif len(mine) > len(wanted) > 0:
        if mine[: len(wanted)] == wanted:
            yield "there are entries too many at the end; those before them are right"
        if mine[-len(wanted) :] == wanted:
            yield "there are entries too many in front; those after them are right"
        if _within(wanted, mine):
            yield "there are entries that do not belong; the expected ones are there, in order"
    if Counter(map(repr, mine)) == Counter(map(repr, wanted)):
        yield "all expected entries are there, but in another order"
    if Counter(map(repr, leaves)) == Counter(map(repr, wanted_leaves)):
        yield "the right entries, in other groups or in another order"
    if all(isinstance(leaf, (int, float)) for leaf in wanted_leaves):
        for by, said in ((1, "larger"), (-1, "smaller")):
            if leaves == [leaf + by for leaf in wanted_leaves]:
                yield f"every number is 1 {said} than expected"


def _leaves(value: Any) -> list[Any]:
    if not isinstance(value, (list, tuple)):
        return [value]
    return [leaf for part in value for leaf in _leaves(part)]


def _within(part: Sequence[Any], whole: Sequence[Any]) -> bool:
    rest = iter(whole)
    return all(any(entry == other for other in rest) for entry in part)
