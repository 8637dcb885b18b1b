"""The checks on the schedule (§5.3): Equation 3 of chapter 14; the two of chapter 12.

Their wrong answers come from one formula with a part changed.
"""

import math
from collections.abc import Callable

from transformer.training.schedule import noam_rate
from walkthrough.checking.base import Check, Mistake, fixed

__all__ = ["learning_rate", "rate_of_batch", "warmup_for_peak"]

Formula = Callable[[int | float, int, int | float], float]


def _formula(
    choose: Callable[[float, float], float] = min,
    *,
    model: int | float = -0.5,
    fall: float = -0.5,
    rise: float = -1.5,
) -> Formula:
    """Equation 3, with another choice between its two terms, or another exponent."""
    return lambda t, d_model, warmup: float(d_model**model * choose(t**fall, t * warmup**rise))


_eq3 = _formula()


# Exercise: Eq. 3 ---------------------------------------------------------------------------------


learning_rate = Check(
    name="the learning rate of Equation 3",
    reference=lambda step, d_model, warmup: noam_rate(step, d_model=d_model, warmup=warmup),
    tolerance=1e-7,
    cases=[
        fixed("the first update", 1, 64, 10),
        fixed("an update in warm-up", 6, 64, 10),
        fixed("the last update of warm-up", 10, 64, 10),
        fixed("an update long after warm-up", 250, 64, 10),
        fixed("another size and warm-up", 30, 128, 40),
        fixed("a very short warm-up", 30, 16, 2),
    ],
    mistakes=[
        Mistake(
            "the larger of the two",
            _formula(choose=max),
            "you take the larger of the two terms: the rate starts high and grows without end. "
            "Equation 3 takes the smaller one.",
        ),
        Mistake(
            "warm-up to the power −0.5",
            _formula(rise=-0.5),
            "the warm-up has the exponent −0.5. With −1.5 the two terms meet at step = warmup; "
            "with −0.5 they meet near the first step, and there is no warm-up.",
        ),
        Mistake(
            "the step's root grows",
            _formula(fall=0.5),
            "the first term is the root of the step; Equation 3 has one over it. Your rate never "
            "falls.",
        ),
        Mistake(
            "no model size",
            _formula(model=0),
            "the factor d_model^−0.5 is missing: larger models get smaller rates.",
        ),
        Mistake(
            "root of the model size",
            _formula(model=0.5),
            "you multiply by the root of d_model; Equation 3 divides by it.",
        ),
        Mistake(
            "steps counted from 0",
            lambda step, d_model, warmup: _eq3(step - 1, d_model, warmup) if step > 1 else 0.0,
            "your steps start at 0, so the first update has a rate of 0 and changes nothing. "
            "Updates are counted from 1.",
        ),
        Mistake(
            "highest rate missing",
            lambda step, d_model, warmup: min(step / warmup, (warmup / step) ** 0.5),
            "the shape is right, and its highest value is 1. Multiply by the highest rate, "
            "(d_model · warmup)^−0.5.",
        ),
        Mistake(
            "stays at the highest rate",
            lambda step, d_model, warmup: d_model**-0.5 * min(step, warmup) * warmup**-1.5,
            "the rate rises in a line and then stays where it is. After the warm-up it falls with "
            "the inverse root of the step.",
        ),
        Mistake(
            "warm-up only",
            _formula(choose=lambda _fall, rise: rise),
            "the rate rises for ever: the term step^−0.5 and the minimum are missing.",
        ),
        Mistake(
            "no warm-up",
            _formula(choose=lambda fall, _rise: fall),
            "the rate falls from the first update: the term with the warm-up is missing.",
        ),
    ],
)


# Exercise: the rate of a batch -------------------------------------------------------------------


def _rate(batch: int, accumulate: int, d_model: int, warmup: int) -> float:
    return _eq3(math.ceil(batch / accumulate), d_model, warmup)


def _of_update(formula: Formula) -> Callable[..., float]:
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
        fixed("batch 204 of 4 an update, after the peak", 204, 4, 64, 16),
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
                (batch - 1) // accumulate, d_model, warmup
            ),
            "the update is one too low: you count updates from 0. The first has number 1.",
        ),
        Mistake(
            "rounded down",
            lambda batch, accumulate, d_model, warmup: _eq3(batch // accumulate, d_model, warmup),
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
            _of_update(_formula(choose=max)),
            "the two terms are swapped: this takes the larger one (`max`), a curve that falls "
            "first and then rises for ever. Eq. 3 takes the smaller.",
        ),
        Mistake(
            "warmup^-0.5",
            _of_update(_formula(rise=-0.5)),
            "warm-up has the exponent −0.5. It is −1.5: only then do the two terms meet at the "
            "update `warmup`.",
        ),
        Mistake(
            "no d_model",
            _of_update(_formula(model=0)),
            "the factor d_model^−0.5 is missing.",
        ),
        Mistake(
            "d_model above",
            _of_update(_formula(model=0.5)),
            "d_model has the exponent +0.5. Larger models get smaller rates: −0.5.",
        ),
        Mistake(
            "rise only",
            _of_update(_formula(choose=lambda _fall, rise: rise)),
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
