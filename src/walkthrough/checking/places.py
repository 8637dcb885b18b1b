"""Where a result is wrong when it is right elsewhere, and what else is seen of it.

Nothing here is a cause. Each sentence describes the wrong results, all of them, and is true by the
way in which it is found.
"""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from walkthrough.checking.compare import short
from walkthrough.checking.evidence import Pair, Series
from walkthrough.checking.relations import slice_of

_UNDEFINED = (("NaN (not a number)", torch.isnan), ("infinite", torch.isinf))


def described(series: Series) -> str | None:
    """Return where wrong results are wrong, or what all of their values have in common."""
    pairs = series.wrong
    if not all(pair.alike and pair.mine.numel() for pair in pairs):
        return None
    for name, test in _UNDEFINED:
        bad = [test(pair.mine) & ~test(pair.wanted) for pair in pairs]
        if any(bool(one.any()) for one in bad):
            return _undefined(series, bad, name)
    if not all(pair.mine.dim() for pair in pairs):
        return _one_for_all(series) or (None if pairs[0].truths else _direction(pairs))
    return _one_number(pairs) or _where_wrong(series, pairs) or _in_common(series, pairs)


def _one_for_all(series: Series) -> str | None:
    """One number, whatever the arguments are."""
    mine, wanted = ({float(one) for one in every} for every in zip(
        *((pair.mine, pair.wanted) for pair in series.pairs), strict=True))  # fmt: skip
    if len(mine) > 1 or len(wanted) < 3:
        return None
    number = mine.pop()
    said = str(bool(number)) if series.truths else short(number)
    return f"your result is {said} whatever the arguments are"


def _where_wrong(series: Series, pairs: Sequence[Pair]) -> str | None:
    wrong = [~series.near(pair.mine, pair.wanted) for pair in pairs]
    said = _where(pairs, wrong)
    return f"your result is wrong {said}, and right everywhere else" if said else None


def _undefined(series: Series, bad: Sequence[Tensor], name: str) -> str:
    pairs = series.wrong
    if all(bool(one.all()) for one in bad):
        return f"your result is {name} everywhere"
    rest_right = all(
        bool((series.near(pair.mine, pair.wanted) | one).all())
        for pair, one in zip(pairs, bad, strict=True)
    )
    rest = "the rest is right" if rest_right else "the rest is not right either"
    said = _where(pairs, bad)
    if said:
        return f"your result is {name} {said}; {rest}"
    n_bad, n_all = sum(int(one.sum()) for one in bad), sum(one.numel() for one in bad)
    return f"{n_bad} of {n_all} values are {name}; {rest}"


# What all values have in common -------------------------------------------------------------------


def _one_number(pairs: Sequence[Pair]) -> str | None:
    every = [pair.mine.unique() for pair in pairs]
    if any(len(values) > 1 for values in every) or max(pair.mine.numel() for pair in pairs) < 4:
        return None
    numbers = sorted({float(values[0]) for values in every})
    if pairs[0].truths:
        return f"your result is {bool(numbers[0])} everywhere" if len(numbers) == 1 else None
    said = ", ".join(short(number) for number in numbers[:3])
    return f"your result holds the same number everywhere, {said}"


def _in_common(series: Series, pairs: Sequence[Pair]) -> str | None:
    if not pairs[0].truths:
        return _alike(pairs) or _sums(pairs) or _direction(pairs)
    wrong = sum(int((pair.mine != pair.wanted).sum()) for pair in pairs)
    opened = sum(int((pair.mine > pair.wanted).sum()) for pair in pairs)
    counted = f"{wrong} of {sum(pair.mine.numel() for pair in pairs)} entries are wrong"
    if opened == wrong:
        return f"{counted}: True where False belongs; whatever should be True is"
    if not opened:
        return f"{counted}: False where True belongs; whatever should be False is"
    return f"{counted}: {opened} True where False belongs, the others the reverse"


def _alike(pairs: Sequence[Pair]) -> str | None:
    """Every row the same, where rows should differ."""
    dims = min(pair.mine.dim() for pair in pairs)
    for number in range(dims if dims > 1 else 0):
        if all(_is_repeated(p.mine, number) and not _is_repeated(p.wanted, number) for p in pairs):
            what = slice_of(number, dims)
            return f"every {what} of your result is the same; they should differ"
    return None


def _is_repeated(values: Tensor, number: int) -> bool:
    first = values.narrow(number, 0, 1)
    return values.shape[number] > 1 and torch.allclose(values, first.expand_as(values))


def _sums(pairs: Sequence[Pair]) -> str | None:
    """Over which dimension values should sum to 1, and what they do."""
    dims = min(pair.mine.dim() for pair in pairs)
    for number in range(-1, -dims - 1, -1):
        if not all(_to_one(pair.wanted, number) for pair in pairs):
            continue
        if all(_to_one(pair.mine, number) for pair in pairs):
            return None
        belongs = f"over dimension {number} your values should sum to 1"
        mine = [d for d in range(-1, -dims - 1, -1) if all(_to_one(p.mine, d) for p in pairs)]
        if mine:
            return f"{belongs}; they do over dimension {mine[0]}"
        sums = pairs[0].mine.sum(number)
        low, high = short(float(sums.min())), short(float(sums.max()))
        return f"{belongs}, and sum to {low if low == high else f'{low} up to {high}'}"
    return None


def _to_one(values: Tensor, number: int) -> bool:
    sums = values.sum(number)
    return torch.allclose(sums, torch.ones_like(sums), atol=1e-4)


def _direction(pairs: Sequence[Pair]) -> str | None:
    """Which way all wrong values err: larger, smaller, further from 0, nearer to it."""
    mine = torch.cat([pair.mine.flatten() for pair in pairs])
    wanted = torch.cat([pair.wanted.flatten() for pair in pairs])
    for said, one, other in (
        ("larger than expected", mine, wanted),
        ("smaller than expected", wanted, mine),
        ("further from 0 than expected", mine.abs(), wanted.abs()),
        ("nearer to 0 than expected", wanted.abs(), mine.abs()),
    ):
        if bool((one >= other).all()):
            return f"whatever is wrong is {said}"
    ranks = [torch.equal(pair.mine.argsort(-1), pair.wanted.argsort(-1)) for pair in pairs]
    if all(ranks) and all(pair.mine.dim() and pair.mine.shape[-1] > 2 for pair in pairs):
        return "the values are in the right order, from smallest to largest; their sizes are wrong"
    return None


# Where it is wrong --------------------------------------------------------------------------------


def _where(pairs: Sequence[Pair], wrong: Sequence[Tensor]) -> str | None:
    """Return the simplest description that covers all wrong entries and little else."""
    if not any(0 < int(bad.sum()) < bad.numel() for bad in wrong):
        return None
    every = [dict(_descriptions(pair)) for pair in pairs]
    for said in every[0]:
        if all(said in where for where in every) and _covers([w[said] for w in every], wrong):
            return said
    return None


def _covers(described: Sequence[Tensor], wrong: Sequence[Tensor]) -> bool:
    inside = all(bool((bad <= place).all()) for bad, place in zip(wrong, described, strict=True))
    n_wrong, n_described = (sum(int(x.sum()) for x in found) for found in (wrong, described))
    return (
        inside
        and n_described < sum(bad.numel() for bad in wrong)
        and n_wrong >= (max(1, 0.6 * n_described))
    )


def _descriptions(pair: Pair) -> Iterator[tuple[str, Tensor]]:
    """Yield places, as words and as a tensor that is True there, the simplest first."""
    shape, dims = pair.wanted.shape, pair.wanted.dim()
    numbers = [number for number in range(dims) if shape[number] > 1]
    at = {
        n: torch.arange(shape[n]).view([-1] + [1] * (dims - 1 - n)).expand(shape) for n in numbers
    }
    names = {number: slice_of(number, dims) for number in numbers}
    for number in numbers:
        last = shape[number] - 1
        yield f"in the first {names[number]} only", at[number] == 0
        yield f"in the last {names[number]} only", at[number] == last
        if last > 1:
            yield f"in every {names[number]} but the first", at[number] > 0
            yield f"in every {names[number]} but the last", at[number] < last
    yield from _of_arguments(pair)
    for number in numbers:
        for rest in (0, 1) if shape[number] > 3 else ():
            yield f"in every second {names[number]}, from {rest} on", at[number] % 2 == rest
    if dims > 1 and {dims - 1, dims - 2} <= at.keys():
        row, column = at[dims - 2], at[dims - 1]
        yield "on the diagonal only", row == column
        yield "above the diagonal only", column > row
        yield "below the diagonal only", column < row
        yield "off the diagonal only", row != column
    if not pair.truths:
        yield "where 0 is expected", pair.wanted == 0
        yield "where a negative number is expected", pair.wanted < 0
        yield "where a positive number is expected", pair.wanted > 0
    for number in numbers:
        for place in range(1, min(shape[number] - 1, 8)):
            yield f"in {names[number]} {place} only (counted from 0)", at[number] == place


def _of_arguments(pair: Pair) -> Iterator[tuple[str, Tensor]]:
    """Yield where a mask that was handed over is closed, and where tokens are padding."""
    for name, value in pair.given.items():
        if not isinstance(value, Tensor) or value.is_floating_point():
            continue
        truths = value.dtype == torch.bool
        fitted = _fitted(value if truths else value != 0, pair)
        if fitted is not None:
            yield f"where `{name}` is {'False' if truths else '0 (padding)'}", ~fitted
            yield f"where `{name}` is {'True' if truths else 'not 0'}", fitted
        if truths and value.dim() >= 2:
            rows, full = _fitted(value.any(-1, True), pair), _fitted(value.all(-1, True), pair)
            if rows is not None and full is not None:
                yield f"in rows where `{name}` closes everything", ~rows
                yield f"in rows where `{name}` closes something", ~full
                yield f"in rows where `{name}` leaves everything open", full


def _fitted(value: Tensor, pair: Pair) -> Tensor | None:
    """Return the truth values spread over the result's shape, if they fit it."""
    shape = pair.wanted.shape
    beside = value.view(*value.shape, *[1] * max(0, len(shape) - value.dim()))
    for one in (value, beside):  # (batch, length) beside (batch, length, d)
        try:
            return (one if one.dim() <= len(shape) else one.squeeze()).expand(shape)
        except RuntimeError:
            continue
    return None
