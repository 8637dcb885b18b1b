"""Compare an answer with the expected one, and say in words how they differ."""

import math
from collections.abc import Collection, Iterator, KeysView
from fractions import Fraction
from typing import Any

import numpy as np
import torch
from torch import Tensor

from walkthrough.checking.kinds import as_tensor, as_values, is_numeric, kind


def same(answer: Any, expected: Any, tolerance: float) -> bool:
    """Return whether two results agree in structure, kind, shape and value.

    Numbers and tensors agree within `tolerance`, absolute and relative; where whole numbers are
    expected, absolute only, so that a count is right or wrong. A float32 tensor may stand for a
    float64 one. Booleans are not numbers here, and ids are whole numbers. Tensors, arrays and lists
    of numbers may stand for each other, and so may a list and a tuple, a list and an
    array of texts, a set and a frozen one, a number and a tensor that holds it alone.
    """
    return difference(answer, expected, tolerance) is None


def difference(answer: Any, expected: Any, tolerance: float) -> str | None:
    """Return how the answer differs from the expected result, or None when it does not."""
    if isinstance(answer, Tensor) and answer.is_meta:  # it holds no numbers to compare
        return f"{kind(expected)} is expected, your result is {kind(answer)} on the device `meta`"
    if isinstance(expected, set) and isinstance(answer, (set, frozenset, KeysView)):
        return _keys_difference(answer, expected)
    if isinstance(expected, (tuple, list, dict)):
        return _container_difference(answer, expected, tolerance)
    if isinstance(expected, Tensor) and expected.dim():
        return _tensor_difference(answer, expected, tolerance)
    if is_numeric(expected):
        return _number_difference(answer, as_tensor(expected), tolerance)
    if isinstance(answer, np.str_):
        answer = str(answer)
    if type(answer) is not type(expected):
        return f"{kind(expected)} is expected, your result is {kind(answer)}"
    return None if answer == expected else f"`{expected!r}` is expected, you have `{answer!r}`"


def _container_difference(answer: Any, expected: Any, tolerance: float) -> str | None:
    if isinstance(answer, (Tensor, np.ndarray)) and answer.ndim:
        texts = isinstance(answer, np.ndarray) and answer.dtype.kind == "U"
        answer = answer.tolist() if texts or _holds_numbers(expected) else answer
    if isinstance(expected, dict) != isinstance(answer, dict) or not isinstance(
        answer, (tuple, list, dict)
    ):
        return f"{kind(expected)} is expected, your result is {kind(answer)}"
    if isinstance(expected, dict):
        gap = _keys_difference(answer, expected)
        if gap:
            return gap
    elif _is_shape(answer) and _is_shape(expected):
        # result by result, a shape would read as six answers, and its order is what went wrong
        wrong = tuple(answer) != tuple(expected)
        return f"{tuple(expected)} is expected, yours is {tuple(answer)}" if wrong else None
    if len(answer) != len(expected):
        if isinstance(expected, list):
            return f"a list of {len(expected)} is expected, yours has {len(answer)}"
        return f"{len(expected)} results are expected, you return {len(answer)}"
    if _holds_ids(expected) and any(isinstance(number, float) for number in answer):
        return "whole numbers are expected, yours are floats"
    for place, mine, wanted in _pairs(answer, expected):
        gap = difference(mine, wanted, tolerance)
        if gap:
            return f"{place}: {gap}"
    return None


def _keys_difference(answer: Collection[Any], expected: Collection[Any]) -> str | None:
    missing = [key for key in expected if key not in answer]
    besides = [key for key in answer if key not in expected]
    first = min(missing or besides, key=str, default=None)
    if first is None:
        return None
    return f"`{first}` is missing" if missing else f"`{first}` does not belong there"


def _is_shape(value: Any) -> bool:
    return isinstance(value, tuple) and len(value) > 1 and all(type(size) is int for size in value)


def _holds_numbers(value: Any) -> bool:
    """Return whether lists hold nothing but numbers, however deep."""
    if isinstance(value, (list, tuple)):
        return all(map(_holds_numbers, value))
    return is_numeric(value) and not isinstance(value, (Tensor, np.ndarray))


def _holds_ids(value: Any) -> bool:
    return isinstance(value, list) and all(type(number) is int for number in value)


def _pairs(answer: Any, expected: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(expected, dict):
        for key in expected:
            yield f"in `{key}`", answer[key], expected[key]
    else:
        for index, (mine, wanted) in enumerate(zip(answer, expected, strict=True)):
            place = f"at [{index}]" if isinstance(expected, list) else f"in result {index + 1}"
            yield place, mine, wanted


def _number_difference(answer: Any, expected: Tensor, tolerance: float) -> str | None:
    is_truth = expected.dtype == torch.bool
    wanted = "True or False" if is_truth else "a number"
    if isinstance(answer, str):
        quotes = ": leave out the quotes" if _reads_as_value(answer) else ""
        return f"{wanted} is expected, yours is the text {answer!r}{quotes}"
    if not is_numeric(answer):
        return f"{wanted} is expected, your result is {kind(answer)}"
    mine = as_tensor(answer)
    if mine.shape == (1,):
        mine = mine[0]
    if mine.shape != expected.shape:
        return f"{wanted} is expected, yours has the shape {tuple(mine.shape)}"
    if mine.is_complex() or expected.is_complex():
        return f"{wanted} is expected, yours is the complex number {mine.item():.3g}"
    if is_truth != (mine.dtype == torch.bool):
        return f"{wanted} is expected, yours is {mine.item()}"
    if is_truth and mine.item() != expected.item():
        return f"{expected.item()} is expected, yours is {mine.item()}"
    return _value_difference(mine, expected, tolerance)


def _reads_as_value(text: str) -> bool:
    try:
        Fraction(text)  # "0.2", "1/5"
    except (ValueError, ZeroDivisionError):
        return text.strip() in ("True", "False")
    return True


def _tensor_difference(answer: Any, expected: Tensor, tolerance: float) -> str | None:
    if not isinstance(answer, Tensor):
        values = as_values(answer)
        if values is None or not values.dim():
            return f"{kind(expected)} is expected, your result is {kind(answer)}"
        answer = values
    if answer.shape != expected.shape:
        return f"the shape should be {tuple(expected.shape)}, yours is {tuple(answer.shape)}"
    truths, mine_truths = expected.dtype == torch.bool, answer.dtype == torch.bool
    if truths != mine_truths or answer.is_complex():
        return f"the values should be {_dtype(expected)}, yours are {_dtype(answer)}"
    if truths:
        wrong = int((answer.cpu() != expected.cpu()).sum())
        words = f"{wrong} of {expected.numel()} entries have the opposite truth value"
        return words if wrong else None
    if answer.is_floating_point() and not expected.is_floating_point():
        return f"whole numbers are expected ({_dtype(expected)}), yours are {_dtype(answer)}"
    return _value_difference(answer.detach(), expected.detach(), tolerance)


def _dtype(values: Tensor) -> str:
    return str(values.dtype).removeprefix("torch.")


def _value_difference(mine: Tensor, wanted: Tensor, tolerance: float) -> str | None:
    relative = tolerance if wanted.is_floating_point() else 0.0
    mine, wanted = mine.cpu().double(), wanted.cpu().double()
    if torch.allclose(mine, wanted, rtol=relative, atol=tolerance, equal_nan=True):
        return None
    undefined = int(mine.isnan().sum()) - int(wanted.isnan().sum())
    if undefined > 0:
        return f"{undefined} of {mine.numel()} values are NaN (not a number)"
    if mine.dim() == 0:
        return _both(wanted.item(), mine.item())
    gap = (mine - wanted).abs().nan_to_num(nan=math.inf)
    gap[(mine == wanted) | (mine.isnan() & wanted.isnan())] = 0.0  # ∞ − ∞ is NaN
    # NumPy's, since PyTorch's loads a whole algebra system first
    place = tuple(int(i) for i in np.unravel_index(int(gap.argmax()), tuple(gap.shape)))
    where = ", ".join(map(str, place))
    return (
        f"the shape is right; the largest difference is {short(gap.max().item())}, at [{where}]: "
        f"{_both(wanted[place].item(), mine[place].item())}"
    )


def _both(wanted: float, mine: float) -> str:
    """Say both numbers, with as many digits as it takes to tell them apart."""
    for digits in range(3, 17):
        expected, yours = short(wanted, digits), short(mine, digits)
        if expected != yours:
            break
    return f"{expected} is expected, yours is {yours}"


def short(number: float, digits: int = 3) -> str:
    """Return a number with this many digits; a whole one of less than 15 digits with all."""
    if float(number).is_integer() and abs(number) < 1e15:
        return f"{number + 0.0:.0f}"  # −0 becomes 0
    return f"{number:.{digits - 3}f}" if 1e3 <= abs(number) < 1e7 else f"{number:.{digits}g}"
