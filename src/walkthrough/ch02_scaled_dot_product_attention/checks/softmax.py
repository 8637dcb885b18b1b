"""The check of chapter 02 on a softmax that does not overflow (§3.2.1)."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from walkthrough.checking.base import (
    Arguments,
    Case,
    Check,
    Mistake,
    Symptom,
    arguments,
    drawn,
)


def _shifted_softmax(shift: Callable[[Tensor], Tensor], dim: int = -1) -> Callable[..., Tensor]:
    def softmax(scores: Tensor) -> Tensor:
        powers = (scores - shift(scores)).exp()
        return powers / powers.sum(dim=dim, keepdim=True)

    return softmax


def _row_max(scores: Tensor) -> Tensor:
    return scores.max(dim=-1, keepdim=True).values


def _row_powers(scores: Tensor) -> Tensor:
    return (scores - _row_max(scores)).exp()


def _normalised(powers: Tensor) -> Tensor:
    return powers / powers.sum(-1, keepdim=True)


def _rows_off(result: Tensor, expected: Tensor, given: Arguments) -> bool:
    sums = result.sum(-1)
    return bool(sums.isfinite().all()) and bool(((sums - 1).abs() > 1e-3).any())


def _columns_sum_to_one(result: Tensor, expected: Tensor, given: Arguments) -> bool:
    columns, rows = result.sum(-2), result.sum(-1)
    return torch.allclose(columns, torch.ones_like(columns)) and not torch.allclose(
        rows, torch.ones_like(rows)
    )


def _powers_of_columns(scores: Tensor) -> Tensor:
    return (scores - scores.max(dim=-1).values).exp()


def _moderate_scores(generator: torch.Generator) -> Arguments:
    return arguments(torch.randn(5, 5, generator=generator))


def _large_scores(generator: torch.Generator) -> Arguments:
    return arguments(1000 + 3 * torch.randn(4, 4, generator=generator))


def _rows_far_apart(generator: torch.Generator) -> Arguments:
    heights = torch.tensor([[300.0], [0.0], [-300.0]])
    return arguments(heights + torch.randn(3, 3, generator=generator))


def _one_closed(generator: torch.Generator) -> Arguments:
    scores = torch.randn(3, 4, generator=generator)
    scores[:, -1] = -math.inf
    return arguments(scores)


SOFTMAXES = (
    torch.softmax,
    torch.log_softmax,
    torch.special.softmax,
    torch.special.log_softmax,
    torch.nn.Softmax,
    torch.nn.LogSoftmax,
    torch.nn.functional.softmin,
)
"""What PyTorch has that is a softmax or one step away from it."""

stable_softmax = Check(
    name="stable_softmax",
    reference=lambda scores: torch.softmax(scores, dim=-1),
    cases=[
        Case("moderate scores", _moderate_scores),
        Case("scores around 1000", _large_scores),
        Case("rows around 300, 0 and −300", _rows_far_apart),
        Case("a score of −∞ in every row", _one_closed),
        drawn("three matrices of scores", (3, 3, 3)),
    ],
    forbidden=SOFTMAXES,
    # around 1000 float32 has steps of 6e-5, and so has the log-sum-exp that one may subtract
    tolerance=1e-4,
    mistakes=[
        Mistake(
            "no shift",
            _shifted_softmax(torch.zeros_like),
            "exp overflows: exp(1000) is infinite in float32, and ∞/∞ is NaN. Subtract a number "
            "from each row first; the weights do not change.",
        ),
        Mistake(
            "dimension 1",
            lambda scores: torch.softmax(scores, dim=1),
            "right for one matrix. With more dimensions, 1 is no longer the last: write "
            "`dim=-1`, which is the last of any number.",
        ),
        Mistake(
            "float64",
            lambda scores: (
                scores.double().exp() / scores.double().exp().sum(-1, keepdim=True)
            ).float(),
            "float64 only moves the limit: exp overflows there above 709. Subtract a number from "
            "each row first; the weights do not change.",
        ),
        Mistake(
            "NaN replaced",
            lambda scores: _shifted_softmax(torch.zeros_like)(scores).nan_to_num(0.0),
            "exp still overflows, and you put 0 in the place of NaN: for large scores all weights "
            "are lost. Subtract a number from each row first.",
        ),
        Mistake(
            "shift in the numerator only",
            lambda scores: _row_powers(scores) / scores.exp().sum(-1, keepdim=True),
            "the maximum is subtracted above the line and not below it. Make the powers once, and "
            "divide them by their own sum.",
        ),
        Mistake(
            "shift in the denominator only",
            lambda scores: scores.exp() / _row_powers(scores).sum(-1, keepdim=True),
            "the maximum is subtracted below the line and not above it. Make the powers once, and "
            "divide them by their own sum.",
        ),
        Mistake(
            "divided by the maximum",
            lambda scores: _normalised((scores / _row_max(scores)).exp()),
            "the scores are *divided* by the maximum, which changes the weights. Subtract it.",
        ),
        Mistake(
            "maximum of the sizes",
            _shifted_softmax(lambda scores: scores.abs().max(dim=-1, keepdim=True).values),
            "you subtract the largest absolute value. In a row far below 0 or with −∞ that is not "
            "the largest score. Take the maximum of the scores themselves.",
        ),
        Mistake(
            "turned round",
            lambda scores: torch.softmax(-scores, dim=-1),
            "the sign is turned: the *smallest* score gets the largest weight.",
        ),
        Mistake(
            "powers of two",
            lambda scores: torch.softmax(scores * math.log(2), dim=-1),
            "these are powers of 2. Softmax takes powers of e.",
        ),
        Mistake(
            "divided by the length",
            lambda scores: _row_powers(scores) / scores.shape[-1],
            "the powers are divided by the number of keys. Divide each row by its sum.",
        ),
        Mistake(
            "one maximum for all rows",
            _shifted_softmax(lambda scores: scores.max()),
            "this subtracts one maximum from all rows. A row far below it underflows: every "
            "power is 0, and 0/0 is NaN. Each row needs its own maximum.",
        ),
        Mistake(
            "maximum without keepdim",
            _shifted_softmax(lambda scores: scores.max(dim=-1).values),
            "each column got a row's maximum: without `keepdim=True` the maxima lie along the "
            "wrong axis, and in a square matrix nothing complains.",
        ),
        Mistake(
            "sum without keepdim",
            lambda scores: _row_powers(scores) / _row_powers(scores).sum(dim=-1),
            "each column is divided by a row's sum: without `keepdim=True` the sums lie along the "
            "wrong axis, and in a square matrix nothing complains.",
        ),
        Mistake(
            "both without keepdim",
            lambda scores: _powers_of_columns(scores) / _powers_of_columns(scores).sum(dim=-1),
            "maximum and sum of each row are used for a column: without `keepdim=True` they lie "
            "along the wrong axis, and in a square matrix nothing complains.",
        ),
        Mistake(
            "column maxima",
            _shifted_softmax(lambda scores: scores.max(dim=-2, keepdim=True).values),
            "this subtracts the maximum of each column. Within a row the numbers subtracted then "
            "differ, and that changes the weights. Take the maximum along the last dimension.",
        ),
        Mistake(
            "minimum or mean",
            _shifted_softmax(lambda scores: scores.min(dim=-1, keepdim=True).values),
            "this subtracts the minimum or the mean of the row. With a score of −∞ both are −∞. "
            "Subtract the maximum: the powers then lie between 0 and 1.",
        ),
        Mistake(
            "sum over columns",
            _shifted_softmax(_row_max, dim=-2),
            "the powers are divided by the sums of the columns. The weights of one query stand in "
            "a row: sum over the last dimension.",
        ),
        Mistake(
            "clamped",
            lambda scores: torch.softmax(scores.clamp(-80, 80), dim=-1),
            "large scores are cut off, so different scores get equal weights. Subtracting the "
            "row's maximum avoids the overflow and changes nothing.",
        ),
        Mistake(
            "logarithm",
            lambda scores: torch.log_softmax(scores, dim=-1),
            "these are the logarithms of the weights.",
        ),
        Mistake(
            "no normalisation",
            _row_powers,
            "the powers are right. They do not sum to 1 yet: divide each row by its sum.",
        ),
        Mistake(
            "one sum for all rows",
            lambda scores: _row_powers(scores) / _row_powers(scores).sum(),
            "all powers are divided by one sum, that of the whole tensor. Each row is divided by "
            "its own.",
        ),
        Mistake(
            "turned round by hand",
            lambda scores: _normalised((_row_max(scores) - scores).exp()),
            "the subtraction is the wrong way round, maximum − score: the *smallest* score gets "
            "the largest weight.",
        ),
        Mistake(
            "root of squares",
            lambda scores: _row_powers(scores) / _row_powers(scores).norm(dim=-1, keepdim=True),
            "each row is divided by the root of its summed squares, so the squares sum to 1. "
            "Divide by the sum.",
        ),
    ],
    symptoms=[
        Symptom(
            "over the columns",
            _columns_sum_to_one,
            "your columns sum to 1, and your rows do not. The weights of one query stand in a row: "
            "softmax runs over the last dimension.",
        ),
        Symptom(
            "rows off",
            _rows_off,
            "the weights of a row do not sum to 1. Divide its powers by the sum of exactly these "
            "powers, and add nothing to it.",
        ),
    ],
    right="`stable_softmax` is right, for scores around 1000 and for −∞ too",
)
