"""The check of chapter 12 on the schedule (§5.3): the rate of a batch."""

import math
from collections.abc import Callable

from transformer.training.schedule import noam_rate
from walkthrough.checking import Check, Forbidden, Mistake, fixed


def _eq3(
    t: int | float, d_model: int, warmup: int | float, choose: Callable[..., float] = min
) -> float:
    """Equation 3, or with another choice between its two terms."""
    return float(d_model**-0.5 * choose(t**-0.5, t * warmup**-1.5))


def _rate(batch: int, accumulate: int, d_model: int, warmup: int) -> float:
    return _eq3(math.ceil(batch / accumulate), d_model, warmup)


def _of_number(number: Callable[[int, int], float]) -> Callable[..., float]:
    """The right formula, with another number of the update."""
    return lambda batch, accumulate, d_model, warmup: _eq3(
        number(batch, accumulate), d_model, warmup
    )


rate_of_batch = Check(
    name="rate_of_batch",
    reference=_rate,
    cases=[
        fixed("batch 4000 of one batch an update, at the peak", 4000, 1, 512, 4000),
        fixed("batch 2 of 2 an update", 2, 2, 512, 4000),
        fixed("batch 10 of 4 an update", 10, 4, 64, 16),
        fixed("batch 37 of 4 an update", 37, 4, 64, 16),
        fixed("batch 39 of 4 an update", 39, 4, 64, 16),
        fixed("batch 40 of 4 an update", 40, 4, 64, 16),
        fixed("batch 204 of 4 an update, after the peak", 204, 4, 64, 16),
    ],
    tolerance=1e-9,
    forbidden=[Forbidden(noam_rate, "write Eq. 3 yourself.")],
    mistakes=[
        Mistake(
            "per batch",
            _of_number(lambda batch, accumulate: batch),
            "the schedule moves with every batch. It moves once an update: batches 1 to "
            "`accumulate` belong to update 1.",
            "The schedule counts batches",
        ),
        Mistake(
            "updates from 0",
            _of_number(lambda batch, accumulate: (batch - 1) // accumulate),
            "the update is one too low: you count updates from 0. The first has number 1.",
            "A learning rate given twice",
        ),
        Mistake(
            "rounded down",
            _of_number(lambda batch, accumulate: max(1, batch // accumulate)),
            "the update is rounded down, or to the nearest whole number. Batch 37 of 4 an update "
            "belongs to update 10, and so do 38, 39 and 40: round up.",
            also=(_of_number(lambda batch, accumulate: max(1, round(batch / accumulate))),),
        ),
        Mistake(
            "times Adam's own rate",
            lambda *given: 0.001 * _rate(*given),
            "this is 0.001 times Eq. 3. That is Adam's own default rate, which `LambdaLR` would "
            "multiply by; here nothing stands beside the schedule.",
            "A learning rate given twice",
        ),
        Mistake(
            "one too many",
            _of_number(lambda batch, accumulate: batch // accumulate + 1),
            "the last batch of an update is given to the next update: batch 40 of 4 an update "
            "belongs to update 10.",
        ),
        Mistake(
            "warm-up divided as well",
            lambda batch, accumulate, d_model, warmup: _eq3(
                math.ceil(batch / accumulate), d_model, warmup / accumulate
            ),
            "you divide the warm-up by `accumulate` too. It is counted in updates already.",
        ),
        Mistake(
            "rate divided as well",
            lambda batch, accumulate, d_model, warmup: (
                _rate(batch, accumulate, d_model, warmup) / accumulate
            ),
            "you divide the *rate* by `accumulate`. The gradients of the batches are averaged "
            "already; the update gets its whole rate.",
        ),
        Mistake(
            "max",
            lambda batch, accumulate, d_model, warmup: _eq3(
                math.ceil(batch / accumulate), d_model, warmup, choose=max
            ),
            "the two terms are swapped: this takes the larger one (`max`), a curve that falls "
            "first and then rises for ever. Eq. 3 takes the smaller.",
        ),
    ],
    right="`rate_of_batch` is right: a rate an update, not a batch",
)
