"""The checks of chapter 12: a step of Adam, the cost of a run (§5.2, §5.3).

Those on the schedule stand in a module of their own.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from walkthrough.checking.base import Arguments, Case, Check, Mistake, arguments, fixed
from walkthrough.checking.rates import rate_of_batch, warmup_for_peak

__all__ = ["adam_step", "rate_of_batch", "training_days", "warmup_for_peak"]

BETA1, BETA2, EPS = 0.9, 0.98, 1e-9

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
            "old memories returned",
            lambda weight, gradient, m, v, update, rate: (
                _adam()(weight, gradient, m, v, update, rate)[0],
                m,
                v,
            ),
            "the new weight is right, and you return m and v as they came. Return the new ones, "
            "or nothing is ever remembered.",
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
            "no ε",
            _adam(eps=0.0),
            "ε is missing: add 1e-9 to the root. With tiny gradients it shows.",
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
        fixed("1e8 FLOPs a token, 25 000 tokens", 1e8, 25_000, 100_000, 1e13),
        fixed("a small run", 2e6, 1000, 700, 3e10),
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
