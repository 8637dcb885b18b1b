"""The check of chapter 02 on a softmax that does not overflow (§3.2.1)."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from walkthrough.checking import Arguments, Case, Check, Mistake, arguments, drawn

Softmax = Callable[[Tensor], Tensor]


def _shifted(shift: Callable[[Tensor], Tensor], sign: int = 1) -> Callable[[Tensor], Tensor]:
    return lambda scores: _normalised((sign * (scores - shift(scores))).exp())


def _normalised(powers: Tensor) -> Tensor:
    return powers / powers.sum(-1, keepdim=True)


def _row_max(scores: Tensor) -> Tensor:
    return scores.amax(-1, keepdim=True)


def _row_powers(scores: Tensor) -> Tensor:
    return (scores - _row_max(scores)).exp()


def _over(dim: int, *, shift: int | None = None, total: int | None = None) -> Softmax:
    """Softmax along `dim`, or with its shift or its sum alone along another dimension."""

    def softmax(scores: Tensor) -> Tensor:
        powers = (scores - scores.amax(dim if shift is None else shift, keepdim=True)).exp()
        return powers / powers.sum(dim if total is None else total, keepdim=True)

    return softmax


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
        drawn("moderate scores", (5, 5)),
        Case(
            "scores around 1000",
            _large_scores,
            "exp(1000) is infinite, in float64 too: subtract a number from each row first. The "
            "weights do not change.",
        ),
        Case(
            "rows around 300, 0 and −300",
            _rows_far_apart,
            "Only the differences within a row count, however low the row lies: subtract the row's "
            "own maximum, and cut nothing off.",
        ),
        Case(
            "a score of −∞ in every row",
            _one_closed,
            "Its power is 0, and so is its weight. The smallest score of such a row, its mean and "
            "its largest absolute value are infinite: subtract the largest score.",
        ),
        drawn(
            "three matrices of scores",
            (3, 3, 3),
            special="The keys of a query still stand in the last dimension, which is `dim=-1` for "
            "any number of dimensions (see “Softmax over the wrong axis”).",
        ),
        drawn("one key", (4, 1)),
    ],
    forbidden=SOFTMAXES,
    # around 1000 float32 has steps of 6e-5, and so has the log-sum-exp that one may subtract
    tolerance=1e-4,
    mistakes=[
        Mistake(
            "no shift",
            _shifted(torch.zeros_like),
            "exp overflows: exp(1000) is infinite in float32, and ∞/∞ is NaN. Subtract a number "
            "from each row first; the weights do not change.",
        ),
        Mistake(
            "clamped",
            lambda scores: _normalised(scores.clamp(-80, 80).exp()),
            "large scores are cut off, so different scores get equal weights. Subtracting the "
            "row's maximum avoids the overflow and changes nothing.",
        ),
        Mistake(
            "over the queries",
            _over(-2),
            "the columns sum to 1 and not the rows, so the queries compete for each key. The "
            "weights of one query stand in a row: sum over the last dimension, `dim=-1`.",
            where="Softmax over the wrong axis",
            also=tuple(_over(-1, shift=a, total=b) for a in (-1, -2, 0) for b in (-2, 0)),
        ),
        Mistake(
            "maximum without keepdim",
            _shifted(lambda scores: scores.amax(-1)),
            "each column got a row's maximum: without `keepdim=True` the maxima lie along the "
            "wrong axis, and in a square matrix nothing complains.",
        ),
        Mistake(
            "sum without keepdim",
            lambda scores: _row_powers(scores) / _row_powers(scores).sum(-1),
            "each column is divided by a row's sum: without `keepdim=True` the sums lie along the "
            "wrong axis, and in a square matrix nothing complains.",
        ),
    ],
    right="`stable_softmax` is right, for scores around 1000 and for −∞ too",
)
