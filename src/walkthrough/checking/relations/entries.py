"""Relations that hold entry by entry: a factor, a summand, a step too many or too few."""

from collections.abc import Callable, Iterator
from functools import partial

import torch
from torch import Tensor

from walkthrough.checking.compare import short
from walkthrough.checking.relations.evidence import Pair, Series
from walkthrough.checking.relations.names import axis, factor_name

Step = Callable[[Tensor], Tensor]

_PLAIN: dict[str, Step] = {
    "exp": torch.exp,
    "log": torch.log,
    "sqrt": torch.sqrt,
    "square": torch.square,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "relu": torch.relu,
    "abs": torch.abs,
}
_INVERSE = {"exp": "log", "log": "exp", "sqrt": "square", "square": "sqrt"}


def entry_relation(series: Series) -> str | None:
    """Return how every entry of the result comes from the expected one, or None."""
    for find in (_constant_result, _simple, _factor, _summand, _steps, _rounded):
        said = find(series)
        if said:
            return said
    return None


def _constant_result(series: Series) -> str | None:
    if not series.tells() and not all(pair.wanted.unique().numel() > 3 for pair in series.pairs):
        return None
    every = [pair.mine.unique() for pair in series.pairs if pair.mine.numel() > 3]
    if not every or any(len(values) != 1 for values in every):
        return None
    numbers = {float(values[0]) for values in every}
    if len(numbers) == 1 and all(pair.truths for pair in series.pairs):
        return f"your result is {bool(numbers.pop())} everywhere"
    if len(numbers) == 1:
        return f"your result holds the same number everywhere, {short(numbers.pop())}"
    return "all entries of your result are the same number"


def _simple(series: Series) -> str | None:
    if all(pair.truths for pair in series.pairs):
        if series.explained(lambda pair: 1 - pair.wanted):
            return "every truth value is inverted: True stands where False belongs, and the reverse"
        return None
    if series.explained(lambda pair: -pair.wanted):
        return "every value has the opposite sign: your result is the expected one negated"
    if series.explained(lambda pair: 1 / pair.wanted):
        return "every value is 1 over the expected one: your result is upside down"
    if series.explained(lambda pair: 1 - pair.wanted):
        return "every value is 1 minus the expected one"
    return None


def _stepwise(series: Series) -> Iterator[tuple[str, str, Step]]:
    yield from (("", name, step) for name, step in _PLAIN.items())
    dims = min(pair.wanted.dim() for pair in series.pairs)
    for number in reversed(range(dims)):
        where = f" over {axis(number, dims)}"
        yield where, "softmax", partial(torch.softmax, dim=number)
        yield where, "log_softmax", partial(torch.log_softmax, dim=number)
        yield where, "cumsum", partial(torch.cumsum, dim=number)


def _steps(series: Series) -> str | None:
    if any(pair.truths for pair in series.pairs):
        return None
    for where, name, step in _stepwise(series):
        if series.completed(partial(_of_mine, step)):
            other = _INVERSE.get(name)
            more = f", or a `{other}` is one too many" if other else ""
            return (
                f"a last step is missing: `{name}` of your result{where} gives the expected "
                f"one{more}"
            )
        if name not in _INVERSE and series.explained(partial(_of_wanted, step)):
            return f"there is a step too many: your result is `{name}` of the expected one{where}"
    dims = min(pair.wanted.dim() for pair in series.pairs)
    for number in reversed(range(dims)):
        if series.explained(partial(_largest, number)):
            return (
                f"your result is 1 at the largest entry over {axis(number, dims)} and 0 elsewhere"
            )
        if series.completed(partial(_normalised, number)):
            return (
                f"your result is not normalised: divided by its sum over {axis(number, dims)}, it "
                "is the expected one"
            )
    return None


def _ratio(pair: Pair) -> float:
    finite = pair.mine.isfinite() & pair.wanted.isfinite()
    mine, wanted = pair.mine[finite], pair.wanted[finite]
    return float((mine * wanted).sum() / (wanted * wanted).sum())


def _factor(series: Series) -> str | None:
    if any(pair.truths or not pair.alike for pair in series.pairs):
        return None
    factors = [_ratio(pair) for pair in series.pairs]
    if not all(abs(factor) > 1e-12 for factor in factors):  # NaN too
        return None
    if not series.explained(lambda pair: _ratio(pair) * pair.wanted, freedom=1):
        return None
    name = factor_name(factors, [pair.given for pair in series.pairs])
    if name:
        return f"every value is the expected one times {name}"
    if max(factors) - min(factors) < 1e-3 * abs(max(factors)):
        digits = 3 if abs(factors[0] - 1) > 0.01 else 5
        return f"every value is {short(factors[0], digits)} times the expected one"
    said = ", ".join(short(factor) for factor in factors[:3])
    return f"every value is the expected one times a number, another in each case: {said}"


def _summand(series: Series) -> str | None:
    if any(pair.truths or not pair.alike for pair in series.pairs):
        return None
    shifts = [_shift(pair) for pair in series.pairs]
    if not series.explained(lambda pair: pair.wanted + _shift(pair), freedom=1):
        return None
    if max(shifts) - min(shifts) < 1e-3 * abs(max(shifts)):
        return f"every value is the expected one plus {short(shifts[0])}"
    said = ", ".join(short(shift) for shift in shifts[:3])
    return f"every value is the expected one plus a number, another in each case: {said}"


def _shift(pair: Pair) -> float:
    gap = pair.mine - pair.wanted
    return float(gap[gap.isfinite()].mean())


def _largest(number: int, pair: Pair) -> Tensor:
    at = pair.wanted.argmax(number, keepdim=True)
    return torch.zeros_like(pair.wanted).scatter(number, at, 1.0)


def _normalised(number: int, pair: Pair) -> Tensor:
    return pair.mine / pair.mine.sum(number, keepdim=True)


def _of_mine(step: Step, pair: Pair) -> Tensor:
    return step(pair.mine)


def _of_wanted(step: Step, pair: Pair) -> Tensor:
    return step(pair.wanted)


def _rounded(series: Series) -> str | None:
    if any(pair.truths or not pair.alike for pair in series.pairs) or not series.tells():
        return None
    for name, step in (("rounded", torch.round), ("rounded down", torch.floor),
                       ("rounded up", torch.ceil)):  # fmt: skip
        if series.explained(partial(_of_wanted, step)):
            return f"your result is the expected one, {name} to whole numbers"
    for digits in (1, 2, 3, 4):
        rounded = [pair.wanted.round(decimals=digits) for pair in series.pairs]
        if all(
            torch.allclose(pair.mine, near, rtol=0, atol=1e-7)
            for pair, near in zip(series.pairs, rounded, strict=True)
        ):
            return f"your result is the expected one, rounded to {digits} decimals"
    return None
