"""Where a result is wrong when it is right elsewhere, and what else is seen of it.

Nothing here is a cause. Each sentence describes the wrong results, all of them, and is true by the
way in which it is found.
"""

import contextlib
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
    wrong = [~series.near(pair.mine, pair.wanted) for pair in pairs]
    for name, test in _UNDEFINED:
        bad = [test(pair.mine) & ~test(pair.wanted) for pair in pairs]
        if _count(bad):
            return _undefined(pairs, wrong, bad, name)
    constant = _constant(series)
    if constant or not all(pair.mine.dim() for pair in pairs):
        return constant or (None if series.truths else _direction(pairs))
    place = _where(pairs, wrong)
    if place:
        return f"your result is wrong {place}, and right everywhere else"
    return _opened(pairs) if series.truths else _sums(pairs) or _direction(pairs)


def _count(every: Sequence[Tensor]) -> int:
    return sum(int(mask.sum()) for mask in every)


def _undefined(
    pairs: Sequence[Pair], wrong: Sequence[Tensor], bad: Sequence[Tensor], name: str
) -> str:
    n_bad, n_all = _count(bad), sum(mask.numel() for mask in bad)
    if n_bad == n_all:
        return f"your result is {name} everywhere"
    rest = "the rest is right" if _count(wrong) == n_bad else "the rest is not right either"
    place = _where(pairs, bad)
    if place:
        return f"your result is {name} {place}; {rest}"
    return f"{n_bad} of {n_all} values are {name}; {rest}"


# What all values have in common -------------------------------------------------------------------


def _constant(series: Series) -> str | None:
    """One number in every place of every case."""
    mine = torch.cat([pair.mine.flatten() for pair in series.pairs]).unique()
    wanted = torch.cat([pair.wanted.flatten() for pair in series.pairs]).unique()
    if len(mine) > 1 or len(wanted) < (2 if series.truths else 3):
        return None
    value = str(bool(mine)) if series.truths else short(float(mine))
    return f"your result is {value} everywhere, whatever the arguments are"


def _opened(pairs: Sequence[Pair]) -> str:
    n_wrong = _count([pair.mine != pair.wanted for pair in pairs])
    opened = _count([pair.mine > pair.wanted for pair in pairs])
    which = {
        n_wrong: "True where False belongs; whatever should be True is",
        0: "False where True belongs; whatever should be False is",
    }.get(opened, f"{opened} True where False belongs, the others the reverse")
    return f"{n_wrong} of {sum(pair.mine.numel() for pair in pairs)} entries are wrong: {which}"


def _sums(pairs: Sequence[Pair]) -> str | None:
    """Over which dimension values should sum to 1, and what they sum to there."""
    for number in range(-1, -min(pair.mine.dim() for pair in pairs) - 1, -1):
        if all(_to_one(pair.wanted, number) for pair in pairs):
            sums = pairs[0].mine.sum(number)
            low, high = (short(float(end), 5) for end in (sums.min(), sums.max()))
            sums_to = low if low == high else f"{low} up to {high}"
            sentence = f"over dimension {number} your values should sum to 1, and sum to {sums_to}"
            return None if _to_one(pairs[0].mine, number) else sentence
    return None


def _to_one(values: Tensor, number: int) -> bool:
    sums = values.sum(number)
    return torch.allclose(sums, torch.ones_like(sums), atol=1e-4)


def _direction(pairs: Sequence[Pair]) -> str | None:
    """Which way all wrong values err: larger, smaller, further from 0, nearer to it."""
    mine = torch.cat([pair.mine.flatten() for pair in pairs])
    wanted = torch.cat([pair.wanted.flatten() for pair in pairs])
    for size, larger, smaller in (
        ("large", mine, wanted),
        ("small", wanted, mine),
        ("far from 0", mine.abs(), wanted.abs()),
        ("near to 0", wanted.abs(), mine.abs()),
    ):
        if bool((larger >= smaller).all()):
            return f"every wrong result is too {size}"
    ranks = [torch.equal(pair.mine.argsort(-1), pair.wanted.argsort(-1)) for pair in pairs]
    if all(ranks) and all(pair.mine.dim() and pair.mine.shape[-1] > 2 for pair in pairs):
        return "the values are in the right order, from smallest to largest; their sizes are wrong"
    return None


# Where it is wrong --------------------------------------------------------------------------------


def _where(pairs: Sequence[Pair], wrong: Sequence[Tensor]) -> str | None:
    """Return the simplest description that covers all wrong entries and little else."""
    n_wrong, n_all = _count(wrong), sum(mask.numel() for mask in wrong)
    every = [dict(_descriptions(pair)) for pair in pairs]
    for words in every[0]:
        places = [described[words] for described in every if words in described]
        if (
            len(places) == len(pairs)
            and all(bool((bad <= place).all()) for bad, place in zip(wrong, places, strict=True))
            and 0.6 * _count(places) <= n_wrong
            and _count(places) < n_all
        ):
            return words
    return None


def _descriptions(pair: Pair) -> Iterator[tuple[str, Tensor]]:
    """Yield places, as words and as a tensor that is True there, the simplest first."""
    shape, dims = pair.wanted.shape, pair.wanted.dim()
    at = {
        number: torch.arange(size).view([-1] + [1] * (dims - 1 - number)).expand(shape)
        for number, size in enumerate(shape)
        if size > 1
    }
    names = {number: slice_of(number, dims) for number in at}
    for number, places in at.items():
        last = shape[number] - 1
        yield f"in the first {names[number]} only", places == 0
        yield f"in the last {names[number]} only", places == last
        if last > 1:
            yield f"in every {names[number]} but the first", places > 0
            yield f"in every {names[number]} but the last", places < last
    yield from _of_arguments(pair)
    for number, places in at.items():
        for rest in (0, 1) if shape[number] > 3 else ():
            yield f"in every second {names[number]}, from {rest} on", places % 2 == rest
    if dims > 1 and {dims - 1, dims - 2} <= at.keys():
        row, column = at[dims - 2], at[dims - 1]
        yield "on the diagonal only", row == column
        yield "above the diagonal only", column > row
        yield "below the diagonal only", column < row
    if not pair.truths:
        yield "where 0 is expected", pair.wanted == 0
        yield "where a negative number is expected", pair.wanted < 0
        yield "where a positive number is expected", (pair.wanted > 0) & (pair.wanted < 0).any()
    for number, places in at.items():
        for place in range(1, min(shape[number] - 1, 8)):
            yield f"in {slice_of(number, dims, f' {place}')} only (counted from 0)", places == place


def _of_arguments(pair: Pair) -> Iterator[tuple[str, Tensor]]:
    """Yield where a mask that was handed over is closed, and where tokens are padding."""
    shape = pair.wanted.shape
    for name, value in pair.given.items():
        if not isinstance(value, Tensor) or value.is_floating_point():
            continue
        truths = value.dtype == torch.bool
        words = {
            f"where `{name}` is {'False' if truths else '0 (padding)'}": value == 0,
            f"where `{name}` is {'True' if truths else 'not 0'}": value != 0,
        }
        if truths and value.dim() >= 2:
            words[f"in rows where `{name}` closes everything"] = ~value.any(-1, True)
            words[f"in rows where `{name}` closes something"] = ~value.all(-1, True)
            words[f"in rows where `{name}` leaves everything open"] = value.all(-1, True)
        for place, there in words.items():
            # (batch, length) may stand beside (batch, length, d)
            beside = there.view(*there.shape, *[1] * max(0, len(shape) - there.dim()))
            for mask in (there, beside, there.squeeze()):
                with contextlib.suppress(RuntimeError):
                    yield place, mask.expand(shape)
                    break
