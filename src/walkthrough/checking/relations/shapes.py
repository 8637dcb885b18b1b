"""Relations of order and shape: transposed, moved, turned round, cut, joined, in another order."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import permutations

import torch
from torch import Tensor

from walkthrough.checking.relations.evidence import Guess, Pair, Series
from walkthrough.checking.relations.names import axis, exchange, slice_of


def order_relation(series: Series) -> str | None:
    """Return how the expected entries were moved to give the result, or None."""
    dims = sorted({pair.wanted.dim() for pair in series.pairs})
    found = [_of_dims(_only(series, n_dims), n_dims) for n_dims in dims]
    return found[0] if None not in found else None


def _only(series: Series, n_dims: int) -> Series:
    pairs = [pair for pair in series.pairs if pair.wanted.dim() == n_dims]
    return Series(pairs, series.tolerance)


def _of_dims(series: Series, n_dims: int) -> str | None:
    for said, moved in _moves(series, n_dims):
        if series.explained(moved):
            return said
    return _moved_by_one(series, n_dims)


def permuted(series: Series) -> str | None:
    """Return that the expected entries are there in some other order, or None."""
    dims = {pair.wanted.dim() for pair in series.pairs}
    return _in_another_order(series, dims.pop()) if len(dims) == 1 else None


def _moves(series: Series, dims: int) -> Iterator[tuple[str, Guess]]:
    yield (
        "the values are right, the shape is not: dimensions of size 1 are missing or too many",
        _same_squeezed,
    )
    yield from _lengths(series, dims)
    for order in _orders(dims):
        said = f"your result is the expected one {exchange(order)}"
        yield said, partial(_permuted, order)
    for number in range(dims):
        what = slice_of(number, dims)
        yield (
            f"your result is the expected one turned round: the last {what} comes first",
            partial(_on_wanted, partial(torch.flip, dims=(number,))),
        )
        for by in (1, -1):
            edge, other = ("last", "first") if by == 1 else ("first", "last")
            yield (
                f"your result is the expected one rolled by one: its {edge} {what} has become the "
                f"{other}",
                partial(_on_wanted, partial(torch.roll, shifts=by, dims=number)),
            )
    yield (
        "the values are right and in the right order, the shape is not: dimensions that should be "
        "apart are joined, or the reverse",
        lambda pair: None if pair.alike else pair.wanted.reshape(pair.mine.shape),
    )
    for order in _orders(dims):
        yield (
            "these are the expected numbers in another order, as after a `reshape` in the place of "
            "a transpose: `reshape` cuts the row of all numbers anew and exchanges no dimensions",
            partial(_cut_anew, order),
        )


def _orders(dims: int) -> Iterator[tuple[int, ...]]:
    if 2 <= dims <= 4:
        pairs_first = sorted(permutations(range(dims)), key=_n_moved)
        yield from (order for order in pairs_first if _n_moved(order))


def _n_moved(order: tuple[int, ...]) -> int:
    return sum(place != old for place, old in enumerate(order))


def _on_wanted(step: Callable[[Tensor], Tensor], pair: Pair) -> Tensor:
    return step(pair.wanted)


def _permuted(order: tuple[int, ...], pair: Pair) -> Tensor:
    return pair.wanted.permute(order)


def _cut_anew(order: tuple[int, ...], pair: Pair) -> Tensor:
    return pair.wanted.permute(order).reshape(pair.mine.shape)


def _missing(number: int, end: str, pair: Pair) -> Tensor | None:
    return _shortened(pair.wanted, pair.mine, number, end)


def _repeated(number: int, place: int, pair: Pair) -> Tensor:
    return pair.wanted.select(number, place).unsqueeze(number).expand_as(pair.wanted)


def _same_squeezed(pair: Pair) -> Tensor | None:
    if pair.alike or pair.mine.squeeze().shape != pair.wanted.squeeze().shape:
        return None
    return pair.wanted.reshape(pair.mine.shape)


def _lengths(series: Series, dims: int) -> Iterator[tuple[str, Guess]]:
    """One slice or more too few or too many at an end of a dimension; a dimension lost."""
    for number in range(dims):
        what, where = slice_of(number, dims), axis(number, dims)
        for end in ("last", "first"):
            yield (
                f"the {end} {what} is missing, or several of them; the rest is right",
                partial(_missing, number, end),
            )
        if all(pair.wanted.shape[number] == 1 for pair in series.pairs):
            continue
        yield (
            f"your result is the sum over {where}: one dimension is lost",
            partial(_on_wanted, partial(torch.sum, dim=number)),
        )
        yield (
            f"your result is the mean over {where}: one dimension is lost",
            partial(_on_wanted, partial(torch.mean, dim=number)),
        )
        for end, place in (("first", 0), ("last", -1)):
            yield (
                f"only the {end} {what} of the expected result is there",
                partial(_on_wanted, partial(torch.select, dim=number, index=place)),
            )
            yield (
                f"every {what} of your result is the {end} {what} of the expected one",
                partial(_repeated, number, place),
            )


def _shortened(long: Tensor, short: Tensor, number: int, end: str) -> Tensor | None:
    if long.dim() != short.dim() or not 0 < short.shape[number] < long.shape[number]:
        return None
    start = 0 if end == "last" else long.shape[number] - short.shape[number]
    return long.narrow(number, start, short.shape[number])


def _moved_by_one(series: Series, dims: int) -> str | None:
    """Moved without coming round: what left is lost, and something else stands at the edge."""
    if not series.tells():
        return None
    for number in range(dims):
        what = slice_of(number, dims)
        for forward in (True, False):
            long = [pair for pair in series.pairs if pair.wanted.shape[number] > 2]
            if long and all(_is_moved(series, pair, number, forward) for pair in long):
                late = "late" if forward else "early"
                return (
                    f"every {what} stands one place too {late}: your {what} 1 is the expected "
                    f"{what} {0 if forward else 2}, and so on, counted from 0"
                )
    for number in range(dims):
        what = slice_of(number, dims)
        for end in ("end", "start"):
            if all(_is_longer(series, pair, number, end) for pair in series.pairs):
                article = "an" if what[0] in "aeiou" else "a"
                return (
                    f"there is {article} {what} too many at the {end}, or several; "
                    "the others are right"
                )
    return None


def _is_moved(series: Series, pair: Pair, number: int, forward: bool) -> bool:
    if not pair.alike or pair.mine.shape[number] < 3:
        return False
    size = pair.mine.shape[number] - 1
    mine = pair.mine.narrow(number, 1 if forward else 0, size)
    wanted = pair.wanted.narrow(number, 0 if forward else 1, size)
    varied = bool((wanted != wanted.select(number, 0).unsqueeze(number)).any())
    return varied and series.close(mine, wanted)


def _is_longer(series: Series, pair: Pair, number: int, end: str) -> bool:
    cut = _shortened(pair.mine, pair.wanted, number, "last" if end == "end" else "first")
    return cut is not None and series.close(cut, pair.wanted)


def _in_another_order(series: Series, dims: int) -> str | None:
    if any(pair.truths or not pair.alike for pair in series.pairs) or not series.tells():
        return None
    if all(series.close(pair.mine, pair.wanted) for pair in series.pairs):
        return None  # in their places, and a little off
    if dims > 1:
        for number in range(dims):
            what = slice_of(number, dims)
            if all(_same_slices(series, pair, number) for pair in series.pairs):
                return f"every {what} of the expected result is there, but in another order"
    values = [
        (pair.mine.flatten().sort().values, pair.wanted.flatten().sort().values)
        for pair in series.pairs
    ]
    if all(series.close(mine, wanted) for mine, wanted in values) and all(
        len(mine.unique()) >= 3 for mine, _ in values
    ):
        return "all expected values are there, but in another order"
    return None


def _same_slices(series: Series, pair: Pair, number: int) -> bool:
    mine = pair.mine.movedim(number, 0).flatten(1)
    wanted = pair.wanted.movedim(number, 0).flatten(1)
    if len(mine) < 2 or not (mine.isfinite().all() and wanted.isfinite().all()):
        return False
    near = torch.cdist(mine, wanted).le(series.loose * (1 + wanted.abs().max()))
    return bool(near.any(0).all() and near.any(1).all())
