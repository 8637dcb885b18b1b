"""The checks of chapter 12: the schedule, a step of Adam, the cost of a run (§5.2, §5.3)."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from walkthrough.checks.base import Arguments, Case, Check, Mistake, arguments

BETA1, BETA2, EPS = 0.9, 0.98, 1e-9

# Exercise: the rate of a batch ------------------------------------------------------------------


def _eq3(step: int | float, d_model: int, warmup: int) -> float:
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
        Case("batch 400 of one batch an update", lambda _: arguments(400, 1, 512, 4000)),
        Case("batch 37 of 4 an update", lambda _: arguments(37, 4, 64, 16)),
        Case("batch 40 of 4 an update", lambda _: arguments(40, 4, 64, 16)),
        Case("batch 200 of 4 an update, after the peak", lambda _: arguments(200, 4, 64, 16)),
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
        Case("the peak of 1e-3, d_model = 512", lambda _: arguments(1e-3, 512)),
        Case("the peak of 5e-4, d_model = 1024", lambda _: arguments(5e-4, 1024)),
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

# Exercise: a step of Adam -----------------------------------------------------------------------

Step = Callable[..., tuple[Tensor, Tensor, Tensor]]


def _adam(
    *,
    beta1: float = BETA1,
    beta2: float = BETA2,
    correct_first: bool = True,
    correct_second: bool = True,
    store_corrected: bool = False,
    later: int = 0,
    eps: float = EPS,
    eps_inside: bool = False,
    squared: bool = True,
    root: bool = True,
    sign: int = -1,
    swapped: bool = False,
) -> Step:
    """Adam's step, with one thing changed."""

    def step(
        weight: Tensor, gradient: Tensor, m: Tensor, v: Tensor, update: int, rate: float
    ) -> tuple[Tensor, Tensor, Tensor]:
        old, new = (beta1, 1 - beta1) if not swapped else (1 - beta1, beta1)
        m = old * m + new * gradient
        old, new = (beta2, 1 - beta2) if not swapped else (1 - beta2, beta2)
        v = old * v + new * (gradient**2 if squared else gradient.abs())
        t = update + later
        m_hat = m / (1 - beta1**t) if correct_first else m
        v_hat = v / (1 - beta2**t) if correct_second else v
        below = v_hat.sqrt() if root else v_hat
        divisor = (v_hat + eps).sqrt() if eps_inside else below + eps
        weight = weight + sign * rate * m_hat / divisor
        return (weight, m_hat, v_hat) if store_corrected else (weight, m, v)

    return step


def _state(update: int, size: float) -> Callable[[torch.Generator], Arguments]:
    def make(generator: torch.Generator) -> Arguments:
        weight, gradient, m = torch.randn(3, 5, dtype=torch.float64, generator=generator)
        if update == 1:  # before the first update nothing is remembered
            zeros = torch.zeros_like(weight)
            return arguments(weight, size * gradient, zeros, zeros.clone(), 1, 0.5)
        v = torch.rand(5, dtype=torch.float64, generator=generator) * (1 - BETA2**update)
        return arguments(weight, size * gradient, size * m / 5, size**2 * v, update, 0.5)

    return make


adam_step = Check(
    name="adam_step",
    reference=_adam(),
    cases=[
        Case("the first update", _state(1, 1.0)),
        Case("update 7", _state(7, 1.0)),
        Case("update 40, with gradients near 1e-9", _state(40, 1e-9)),
    ],
    tolerance=1e-7,
    mistakes=[
        Mistake(
            "no correction",
            _adam(correct_first=False, correct_second=False),
            "the bias correction is left out. Both memories start at 0 and are too small at "
            "first: divide m by 1 − β1^t and v by 1 − β2^t.",
        ),
        Mistake(
            "only m corrected",
            _adam(correct_second=False),
            "m is corrected and v is not. v has started at 0 as well: divide it by 1 − β2^t.",
        ),
        Mistake(
            "only v corrected",
            _adam(correct_first=False),
            "v is corrected and m is not. m has started at 0 as well: divide it by 1 − β1^t.",
        ),
        Mistake(
            "corrected values kept",
            _adam(store_corrected=True),
            "the new weight is right, and you return the corrected m and v. The memories go on "
            "uncorrected; the correction serves one step only.",
        ),
        Mistake(
            "one update late",
            _adam(later=1),
            "the correction uses the exponent t + 1. At the first update t is 1, and the "
            "correction undoes (1 − β) exactly.",
        ),
        Mistake(
            "β swapped with 1 − β",
            _adam(swapped=True),
            "β and 1 − β have changed places: the old memory keeps the share β, the new gradient "
            "gets 1 − β.",
        ),
        Mistake(
            "the two β exchanged",
            _adam(beta1=BETA2, beta2=BETA1),
            "β1 and β2 are exchanged. β1 = 0.9 belongs to the gradients, β2 = 0.98 to their "
            "squares.",
        ),
        Mistake(
            "β2 of PyTorch",
            _adam(beta2=0.999),
            "β2 is 0.999, the default of PyTorch. The paper has 0.98.",
        ),
        Mistake(
            "ε of PyTorch",
            _adam(eps=1e-8),
            "ε is 1e-8, the default of PyTorch. The paper has 1e-9. With tiny gradients it shows.",
        ),
        Mistake(
            "ε inside the root",
            _adam(eps_inside=True),
            "ε stands inside the root. There it counts as its root, 3e-5, and tiny gradients are "
            "lost. It is added after the root.",
        ),
        Mistake(
            "not squared",
            _adam(squared=False),
            "v remembers the gradients' absolute values. It remembers their squares.",
        ),
        Mistake(
            "no root",
            _adam(root=False),
            "you divide by v̂. Divide by its root: only then does the gradient's unit cancel.",
        ),
        Mistake(
            "uphill",
            _adam(sign=1),
            "the step goes up the gradient, and the loss with it. Subtract it.",
        ),
    ],
    right="`adam_step` is right, from the first update on and for tiny gradients",
)

# Exercise: how long a run takes -----------------------------------------------------------------


def _days(forward: float, tokens: int, updates: int, rate: float) -> float:
    return 3 * forward * tokens * updates / rate / 86_400


training_days = Check(
    name="training_days",
    reference=_days,
    cases=[
        Case("1e8 FLOPs a token, 25 000 tokens", lambda _: arguments(1e8, 25_000, 100_000, 1e13)),
        Case("a small run", lambda _: arguments(2e6, 1000, 700, 3e10)),
    ],
    tolerance=1e-7,
    mistakes=[
        Mistake(
            "forward only",
            lambda f, tokens, updates, rate: _days(f, tokens, updates, rate) / 3,
            "only the forward pass is counted. The gradients take about twice as much again.",
        ),
        Mistake(
            "one backward",
            lambda f, tokens, updates, rate: _days(f, tokens, updates, rate) * 2 / 3,
            "the backward pass is counted like a forward pass. It has two products for each: a "
            "gradient for the weights, and one for the input.",
        ),
        Mistake(
            "seconds",
            lambda f, tokens, updates, rate: _days(f, tokens, updates, rate) * 86_400,
            "these are seconds. A day has 86 400.",
        ),
        Mistake(
            "hours",
            lambda f, tokens, updates, rate: _days(f, tokens, updates, rate) * 24,
            "these are hours.",
        ),
        Mistake(
            "one update",
            lambda f, tokens, updates, rate: _days(f, tokens, 1, rate),
            "this is one update.",
        ),
        Mistake(
            "one token an update",
            lambda f, tokens, updates, rate: _days(f, 1, updates, rate),
            "an update is counted with one token. It has `tokens` of them.",
        ),
    ],
    right="`training_days` is right",
)
