"""The arguments of a check's cases, changed in ways that stand for a mistake.

A result that is right for changed arguments tells what a function forgot: with `bias` 0 everywhere
it does not use the bias, with `key` in the place of `value` it reads the wrong one.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

Values = tuple[Any, ...]
Change = Callable[[Values], Values | None]


@dataclass(frozen=True)
class Variant:
    """A change of a call's arguments, and how a sentence on it goes on after "the right one"."""

    say: str
    change: Change
    combines: bool = False  # a part left out: two of these may come together


def variants(names: Sequence[str], inputs: Sequence[Values]) -> Iterator[Variant]:
    """Yield every change that fits the kinds of these arguments, the likeliest first."""
    for place, name in enumerate(names):
        for say, change, combines in _of_one(name, [values[place] for values in inputs]):
            yield Variant(say, _at(place, change), combines)
    yield from _of_two(names, inputs[0])


def _at(place: int, change: Callable[[Any], Any]) -> Change:
    def changed(values: Values) -> Values | None:
        new = change(values[place])
        return None if new is None else (*values[:place], new, *values[place + 1 :])

    return changed


def _of_two(names: Sequence[str], values: Values) -> Iterator[Variant]:
    for one in range(len(names)):
        for other in range(len(names)):
            if one == other or not _of_one_kind(values[one], values[other]):
                continue
            if one < other:
                yield Variant(
                    f"if `{names[one]}` and `{names[other]}` are exchanged", _exchange(one, other)
                )
            yield Variant(
                f"with `{names[other]}` in the place of `{names[one]}`", _replace(one, other)
            )


def _of_one_kind(one: Any, other: Any) -> bool:
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        return one.dtype == other.dtype
    if callable(one) and callable(other):
        return True
    return type(one) is type(other)


def _exchange(one: int, other: int) -> Change:
    def changed(values: Values) -> Values:
        new = list(values)
        new[one], new[other] = new[other], new[one]
        return tuple(new)

    return changed


def _replace(one: int, other: int) -> Change:
    return lambda values: (*values[:one], values[other], *values[one + 1 :])


Found = Iterator[tuple[str, Callable[[Any], Any], bool]]


def _of_one(name: str, every: Sequence[Any]) -> Found:
    value = every[0]
    if isinstance(value, Tensor):
        yield from _of_tensor(name, value)
    elif isinstance(value, bool):
        yield f"for `{name}=True` in every case", lambda x: True, True
        yield f"for `{name}=False` in every case", lambda x: False, True
        yield f"if `{name}` means the opposite", lambda x: not x, True
    elif isinstance(value, int):
        yield from _fixed(name, every)
        yield f"for `{name} + 1`", lambda x: x + 1, True
        yield f"for `{name} − 1`", lambda x: x - 1, True
        yield f"for twice `{name}`", lambda x: 2 * x, True
        yield f"for half of `{name}`", lambda x: x // 2, True
        yield f"for `{name} = 0`: do you use `{name}`?", lambda x: 0, True
        yield f"for `{name} = 1`: do you use `{name}`?", lambda x: 1, True
    elif isinstance(value, float):
        yield from _fixed(name, every)
        yield from _of_float(name)
    elif isinstance(value, str):
        for other in dict.fromkeys(every):
            yield f'for `{name}="{other}"` in every case', _always(other), False
    elif isinstance(value, list):
        yield from _of_list(name, value)
    elif callable(value):
        yield (
            f"if `{name}` changed nothing: do you call it, and use what it returns?",
            lambda f: _first,
            True,
        )
        yield f"if `{name}` is called twice in a row", lambda f: lambda x: f(f(x)), True


def _fixed(name: str, every: Sequence[Any]) -> Found:
    """A number of one case in all of them."""
    for other in dict.fromkeys(every):
        if len(set(every)) > 1:
            say = f"for `{name} = {other}` in every case: do you use `{name}`?"
            yield say, _always(other), False


def _always(value: Any) -> Callable[[Any], Any]:
    return lambda _given: value


def _first(*given: Any) -> Any:
    return given[0]


def _of_float(name: str) -> Found:
    yield f"for `{name} = 0`: do you use `{name}`?", lambda x: 0.0, True
    yield f"for `{name} = 1`: do you use `{name}`?", lambda x: 1.0, True
    yield f"for `1 − {name}`", lambda x: 1 - x, True
    yield f"for `−{name}`", lambda x: -x, True
    yield f"for `1 / {name}`", lambda x: 1 / x if x else None, True
    yield f"for the square of `{name}`", lambda x: x * x, True
    yield f"for the root of `{name}`", lambda x: x**0.5 if x >= 0 else None, True
    yield f"for twice `{name}`", lambda x: 2 * x, True
    yield f"for half of `{name}`", lambda x: x / 2, True


def _of_tensor(name: str, value: Tensor) -> Found:
    if value.dtype == torch.bool:
        yield f"if `{name}` is True everywhere: do you use `{name}`?", torch.ones_like, True
        yield f"if `{name}` is False everywhere", torch.zeros_like, True
        yield f"if `{name}` is inverted", torch.logical_not, True
    elif value.is_floating_point():
        yield f"if `{name}` is 0 everywhere: do you use `{name}`?", torch.zeros_like, True
        yield f"if `{name}` is 1 everywhere: do you use `{name}`?", torch.ones_like, True
        yield f"for `−{name}`", torch.neg, True
        yield f"for the absolute values of `{name}`", torch.abs, False
        yield f"for `relu({name})`", torch.relu, False
        yield f"for the squares of `{name}`", torch.square, False
        yield f"for `exp({name})`", torch.exp, False
        yield f"for `softmax({name})`, over its last dimension", lambda x: x.softmax(-1), False
        yield f"for `tanh({name})`", torch.tanh, False
    else:
        yield f"for `{name} + 1`", lambda x: x + 1, False
        yield f"for `{name} − 1`", lambda x: x - 1, False
    if value.dim() >= 2:
        yield f"if `{name}` is transposed", lambda x: x.transpose(-2, -1), True
    for number in range(value.dim()):
        where = f"along dimension {number}" if value.dim() > 1 else "its entries"
        yield f"if `{name}` is turned round {where}", _turned(number), False
        yield f"if `{name}` is moved on by one {where}", _rolled(number, 1), False
        yield f"if `{name}` is moved back by one {where}", _rolled(number, -1), False
        yield (
            f"if `{name}` has the same entries {where}, those of its first place",
            _repeated(number, 0),
            False,
        )
        yield f"if the last of `{name}` {where} is left out", _without(number, -1), False
        yield f"if the first of `{name}` {where} is left out", _without(number, 0), False


def _turned(number: int) -> Callable[[Tensor], Tensor]:
    return lambda values: values.flip(number)


def _rolled(number: int, by: int) -> Callable[[Tensor], Tensor]:
    return lambda values: values.roll(by, number)


def _repeated(number: int, place: int) -> Callable[[Tensor], Tensor]:
    return lambda values: values.select(number, place).unsqueeze(number).expand_as(values).clone()


def _without(number: int, place: int) -> Callable[[Tensor], Tensor | None]:
    def cut(values: Tensor) -> Tensor | None:
        size = values.shape[number] - 1
        return values.narrow(number, 1 if place == 0 else 0, size) if size else None

    return cut


def _of_list(name: str, value: list[Any]) -> Found:
    yield f"if `{name}` is turned round", lambda x: x[::-1], False
    yield f"without the last of `{name}`", lambda x: x[:-1], True
    yield f"without the first of `{name}`", lambda x: x[1:], True
    yield f"for the last of `{name}` alone", lambda x: x[-1:], True
    yield f"for the first of `{name}` alone", lambda x: x[:1], True
    yield f"if every entry of `{name}` is its first", lambda x: x[:1] * len(x), False
    if value and all(isinstance(x, (int, float)) for x in value):
        yield f"if `{name}` is moved on by one, with 0 in front", lambda x: [0, *x[:-1]], False
        yield f"if `{name}` is sorted", sorted, False
        yield f"for the absolute values of `{name}`", lambda x: [abs(y) for y in x], False
        yield f"if every entry of `{name}` is 1: do you use it?", lambda x: [1] * len(x), True
    if value and all(callable(x) for x in value):
        yield f"if no entry of `{name}` is called", lambda x: [], True
