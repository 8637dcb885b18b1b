"""The checks of chapter 12 on the schedule: the rate of a batch, the warm-up of a peak (§5.3)."""

import math
from collections.abc import Callable

from walkthrough.checks.base import Check, Mistake, fixed

# Exercise: the rate of a batch ------------------------------------------------------------------


def _eq3(step: int | float, d_model: int, warmup: int | float) -> float:
    return float(d_model**-0.5 * min(step**-0.5, step * warmup**-1.5))


def _rate(batch: int, accumulate: int, d_model: int, warmup: int) -> float:
    return _eq3(math.ceil(batch / accumulate), d_model, warmup)


def _rate_with(formula: Callable[[int, int, int], float]) -> Callable[..., float]:
    """Another formula, with the right update."""
    return lambda batch, accumulate, d_model, warmup: formula(
        math.ceil(batch / accumulate), d_model, warmup
    )


rate_of_batch = Check(
    name="rate_of_batch",
    reference=_rate,
    cases=[
        fixed("batch 400 of one batch an update", 400, 1, 512, 4000),
        fixed("batch 37 of 4 an update", 37, 4, 64, 16),
        fixed("batch 40 of 4 an update", 40, 4, 64, 16),
        fixed("batch 200 of 4 an update, after the peak", 200, 4, 64, 16),
    ],
    tolerance=1e-9,
    mistakes=[
        Mistake(
            "per batch",
            lambda batch, accumulate, d_model, warmup: _eq3(batch, d_model, warmup),
            "the schedule moves with every batch. It moves once an update: batches 1 to "
            "`accumulate` belong to update 1.",
        ),
        Mistake(
            "updates from 0",
            lambda batch, accumulate, d_model, warmup: _eq3(
                max(batch - 1, accumulate) // accumulate, d_model, warmup
            ),
            "the update is one too low: you count updates from 0. The first has number 1.",
        ),
        Mistake(
            "rounded down",
            lambda batch, accumulate, d_model, warmup: _eq3(
                max(batch // accumulate, 1), d_model, warmup
            ),
            "the update is rounded down. Batch 37 of 4 an update belongs to update 10, and so do "
            "38, 39 and 40.",
        ),
        Mistake(
            "one too many",
            lambda batch, accumulate, d_model, warmup: _eq3(
                batch // accumulate + 1, d_model, warmup
            ),
            "the last batch of an update is given to the next update: batch 40 of 4 an update "
            "belongs to update 10.",
        ),
        Mistake(
            "not rounded",
            lambda batch, accumulate, d_model, warmup: _eq3(batch / accumulate, d_model, warmup),
            "the update is not a whole number, so the rate moves between the batches of one "
            "update. Round up.",
        ),
        Mistake(
            "multiplied",
            lambda batch, accumulate, d_model, warmup: _eq3(batch * accumulate, d_model, warmup),
            "the batch is multiplied by `accumulate`. Several batches make one update: divide, "
            "and round up.",
        ),
        Mistake(
            "warm-up divided as well",
            lambda batch, accumulate, d_model, warmup: _eq3(
                math.ceil(batch / accumulate), d_model, warmup / accumulate
            ),
            "you divide the warm-up by `accumulate` too. It is counted in updates already.",
        ),
        Mistake(
            "max",
            _rate_with(lambda t, d, w: d**-0.5 * max(t**-0.5, t * w**-1.5)),
            "the two terms are swapped: this takes the larger one (`max`), a curve that falls "
            "first and then rises for ever. Eq. 3 takes the smaller.",
        ),
        Mistake(
            "warmup^-0.5",
            _rate_with(lambda t, d, w: d**-0.5 * min(t**-0.5, t * w**-0.5)),
            "warm-up has the exponent −0.5. It is −1.5: only then do the two terms meet at the "
            "update `warmup`.",
        ),
        Mistake(
            "no d_model",
            _rate_with(lambda t, d, w: min(t**-0.5, t * w**-1.5)),
            "the factor d_model^−0.5 is missing.",
        ),
        Mistake(
            "d_model above",
            _rate_with(lambda t, d, w: d**0.5 * min(t**-0.5, t * w**-1.5)),
            "d_model has the exponent +0.5. Larger models get smaller rates: −0.5.",
        ),
        Mistake(
            "rise only",
            _rate_with(lambda t, d, w: d**-0.5 * t * w**-1.5),
            "the rate rises for ever. After the warm-up the other term is smaller: `min`.",
        ),
    ],
    right="`rate_of_batch` is right: a rate an update, not a batch",
)

# Exercise: the warm-up of a peak ----------------------------------------------------------------

warmup_for_peak = Check(
    name="warmup_for_peak",
    reference=lambda peak, d_model: 1 / (d_model * peak**2),
    cases=[
        fixed("the peak of 1e-3, d_model = 512", 1e-3, 512),
        fixed("the peak of 5e-4, d_model = 1024", 5e-4, 1024),
    ],
    tolerance=1e-6,
    mistakes=[
        Mistake(
            "no square",
            lambda peak, d_model: 1 / (d_model * peak),
            "the peak is not squared. From peak = (d_model · warmup)^−0.5 follows "
            "peak² = 1 / (d_model · warmup).",
        ),
        Mistake(
            "root of d_model",
            lambda peak, d_model: 1 / (d_model**0.5 * peak**2),
            "d_model has a root too many: squaring the peak squares its d_model^−0.5 as well.",
        ),
        Mistake(
            "d_model forgotten",
            lambda peak, d_model: 1 / peak**2,
            "d_model is missing. It lowers the whole curve, so it lowers the peak.",
        ),
        Mistake(
            "upside down",
            lambda peak, d_model: d_model * peak**2,
            "this is one divided by the right number.",
        ),
    ],
    right="`warmup_for_peak` is right: half the peak takes four times the warm-up",
)
