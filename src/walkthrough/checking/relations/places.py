"""Where a result is wrong, when it is right elsewhere: a row, the diagonal, where a mask closes."""

from collections.abc import Iterator

import torch
from torch import Tensor

from walkthrough.checking.relations.evidence import Pair, Series
from walkthrough.checking.relations.names import slice_of


def place_relation(series: Series) -> str | None:
    """Return "right everywhere but in …", or where NaN stands, or None."""
    pairs = [pair for pair in series.pairs if pair.alike and pair.mine.dim()]
    if len(pairs) != len(series.pairs):
        return None
    undefined = [pair.mine.isnan() & ~pair.wanted.isnan() for pair in pairs]
    if any(bool(bad.any()) for bad in undefined):
        return _undefined(series, pairs, undefined)
    wrong = [_wrong(series, pair) for pair in pairs]
    said = _where(pairs, wrong)
    if said:
        return f"your result is wrong {said}, and right everywhere else"
    return _one_sided(pairs, wrong)


def _undefined(series: Series, pairs: list[Pair], undefined: list[Tensor]) -> str:
    rest_right = all(
        bool((_wrong(series, pair) <= bad).all())
        for pair, bad in zip(pairs, undefined, strict=True)
    )
    rest = "the rest is right" if rest_right else "the rest is not right either"
    if all(bool(bad.all()) for bad in undefined):
        return "your result is NaN (not a number) everywhere: 0/0, ∞ − ∞ or ∞/∞ on the way"
    said = _where(pairs, undefined)
    if said:
        return f"your result is NaN (not a number) {said}; {rest}"
    n_bad, n_all = sum(int(bad.sum()) for bad in undefined), sum(bad.numel() for bad in undefined)
    return f"{n_bad} of {n_all} values are NaN (not a number); {rest}"


def _wrong(series: Series, pair: Pair) -> Tensor:
    near = torch.isclose(
        pair.mine, pair.wanted, rtol=series.tolerance, atol=series.tolerance, equal_nan=True
    )
    return ~near


def _where(pairs: list[Pair], wrong: list[Tensor]) -> str | None:
    """Return the simplest description that covers all wrong entries and little else."""
    if not any(0 < int(bad.sum()) < bad.numel() for bad in wrong):
        return None
    every = [dict(_descriptions(pair)) for pair in pairs]
    for said in every[0]:
        if all(said in where for where in every) and _covers([w[said] for w in every], wrong):
            return said
    return None


def _covers(described: list[Tensor], wrong: list[Tensor]) -> bool:
    inside = all(bool((bad <= place).all()) for bad, place in zip(wrong, described, strict=True))
    n_wrong, n_described = (sum(int(x.sum()) for x in found) for found in (wrong, described))
    n_all = sum(bad.numel() for bad in wrong)
    return inside and n_described < n_all and n_wrong >= max(1, 0.6 * n_described)


def _descriptions(pair: Pair) -> Iterator[tuple[str, Tensor]]:
    """Yield places, as words and as a tensor that is True there, the simplest first."""
    shape, dims = pair.wanted.shape, pair.wanted.dim()
    for number in range(dims):
        size, what = shape[number], slice_of(number, dims)
        if size < 2:
            continue
        at = torch.arange(size).view([-1 if d == number else 1 for d in range(dims)]).expand(shape)
        yield f"in the first {what} only", at == 0
        yield f"in the last {what} only", at == size - 1
        if size > 2:
            yield f"in every {what} but the first", at > 0
            yield f"in every {what} but the last", at < size - 1
    yield from _of_arguments(pair)
    for number in range(dims):
        size, what = shape[number], slice_of(number, dims)
        at = torch.arange(size).view([-1 if d == number else 1 for d in range(dims)]).expand(shape)
        if size > 3:
            yield f"in every second {what}, from 0 on", at % 2 == 0
            yield f"in every second {what}, from 1 on", at % 2 == 1
    if dims >= 2 and shape[-1] > 1 and shape[-2] > 1:
        square = torch.ones(shape, dtype=torch.bool)
        yield "on the diagonal only", square.tril() & square.triu()
        yield "above the diagonal only", square.triu(1)
        yield "below the diagonal only", square.tril(-1)
        yield "off the diagonal only", ~(square.tril() & square.triu())
    if not pair.truths:
        yield "where 0 is expected", pair.wanted == 0
        yield "where a negative number is expected", pair.wanted < 0
        yield "where a positive number is expected", pair.wanted > 0
    for number in range(dims):
        for place in range(1, min(shape[number] - 1, 8)):
            at = torch.zeros(shape, dtype=torch.bool)
            at.select(number, place).fill_(True)
            yield f"in {slice_of(number, dims)} {place} only (counted from 0)", at


def _of_arguments(pair: Pair) -> Iterator[tuple[str, Tensor]]:
    for name, value in pair.given.items():
        if not isinstance(value, Tensor):
            continue
        if value.dtype == torch.bool:
            yield from _by_truth(name, value, pair)
        elif not value.is_floating_point():
            padding = _fitted(value == 0, pair)
            if padding is not None:
                yield f"where `{name}` is 0 (padding)", padding
                yield f"where `{name}` is not 0", ~padding


def _by_truth(name: str, value: Tensor, pair: Pair) -> Iterator[tuple[str, Tensor]]:
    fitted = _fitted(value, pair)
    if fitted is not None:
        yield f"where `{name}` is False", ~fitted
        yield f"where `{name}` is True", fitted
    if value.dim() >= 2:
        rows = _fitted(value.any(-1), pair, keep_last=True)
        full = _fitted(value.all(-1), pair, keep_last=True)
        if rows is not None and full is not None:
            yield f"in rows where `{name}` closes everything", ~rows
            yield f"in rows where `{name}` closes something", ~full
            yield f"in rows where `{name}` leaves everything open", full


def _fitted(value: Tensor, pair: Pair, *, keep_last: bool = False) -> Tensor | None:
    """Return the truth values spread over the result's shape, if they fit it."""
    shape = pair.wanted.shape
    tried = [value.unsqueeze(-1)] if keep_last else [value]
    if not keep_last and value.dim() < len(shape):  # (batch, length) beside (batch, length, d)
        tried.append(value.view(*value.shape, *[1] * (len(shape) - value.dim())))
    for one in tried:
        if one.dim() > len(shape):
            one = one.squeeze()
        try:
            return one.expand(shape)
        except RuntimeError:
            continue
    return None


def _one_sided(pairs: list[Pair], wrong: list[Tensor]) -> str | None:
    """Say whether a mask opens only, or closes only, what it should not."""
    if not all(pair.truths for pair in pairs):
        return None
    n_wrong, n_all = sum(int(bad.sum()) for bad in wrong), sum(bad.numel() for bad in wrong)
    counted = f"{n_wrong} of {n_all} entries"
    if all(bool((pair.mine >= pair.wanted).all()) for pair in pairs):
        return f"{counted} are True where False belongs; whatever should be True is"
    if all(bool((pair.mine <= pair.wanted).all()) for pair in pairs):
        return f"{counted} are False where True belongs; whatever should be False is"
    return None
