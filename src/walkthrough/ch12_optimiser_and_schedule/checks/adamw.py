"""The check of chapter 12 on a step of AdamW (§5.3)."""

from collections.abc import Callable

import torch
from torch import Tensor

from walkthrough.checking import Arguments, Case, Check, Mistake, arguments

BETA1, BETA2, EPS = 0.9, 0.98, 1e-9


Step = Callable[..., tuple[Tensor, Tensor, Tensor]]


def _direction(m_hat: Tensor, v_hat: Tensor) -> Tensor:
    return m_hat / (v_hat.sqrt() + EPS)


def _adamw(
    *,
    shares: tuple[float, float, float, float] = (BETA1, 1 - BETA1, BETA2, 1 - BETA2),
    powers: Callable[[float, int], tuple[float, float]] = lambda t, _: (BETA1**t, BETA2**t),
    towards: Callable[[Tensor, Tensor], Tensor] = _direction,
    decay_in_gradient: bool = False,
) -> Step:
    """AdamW's step, with one thing changed."""

    def step(
        weight: Tensor,
        gradient: Tensor,
        m: Tensor,
        v: Tensor,
        update: int,
        rate: float,
        decay: float,
    ) -> tuple[Tensor, Tensor, Tensor]:
        seen = gradient + decay * weight if decay_in_gradient else gradient
        m = shares[0] * m + shares[1] * seen
        v = shares[2] * v + shares[3] * seen**2
        first_power, second_power = powers(update, update)
        m_hat, v_hat = m / (1 - first_power), v / (1 - second_power)
        off = 0.0 if decay_in_gradient else rate * decay * weight
        return weight - rate * towards(m_hat, v_hat) - off, m, v

    return step


def _but(name: str, say: str, **changes: object) -> Mistake:
    return Mistake(name, _adamw(**changes), say)  # type: ignore[arg-type]


def _after(name: str, say: str, *changes: Callable[..., object]) -> Mistake:
    """A mistake made with right results: each of `changes` gets them and the arguments."""
    first, *others = [lambda *given, c=c: c(_adamw()(*given), *given) for c in changes]
    return Mistake(name, first, say, also=tuple(others))


def _decayed(off: Callable[..., Tensor]) -> Callable[..., object]:
    """The step with another decay taken off, made of the weights before and after, rate, decay."""
    return lambda right, w, g, m, v, t, rate, decay: (
        right[0] + rate * decay * w - off(w, right[0], rate, decay),
        *right[1:],
    )


def _state(update: int, size: float) -> Callable[[torch.Generator], Arguments]:
    def make(generator: torch.Generator) -> Arguments:
        weight, gradient, m = torch.randn(3, 5, dtype=torch.float64, generator=generator)
        if update == 1:  # before the first update nothing is remembered
            zeros = torch.zeros_like(weight)
            return arguments(weight, size * gradient, zeros, zeros.clone(), 1, 0.5, 0.1)
        v = torch.rand(5, dtype=torch.float64, generator=generator) * (1 - BETA2**update)
        return arguments(weight, size * gradient, size * m / 5, size**2 * v, update, 0.5, 0.3)

    return make


adamw_step = Check(
    name="adamw_step",
    reference=_adamw(),
    cases=[
        Case("the first update", _state(1, 1.0)),
        Case(
            "a first update without a gradient",
            _state(1, 0.0),
            "Both means are 0, and ε alone keeps you from 0/0: it is added to the root.",
        ),
        Case("update 7", _state(7, 1.0)),
        Case("update 40, with gradients near 1e-9", _state(40, 1e-9)),
    ],
    tolerance=1e-7,
    mistakes=[
        _but(
            "decay in the gradient",
            "the decay is added to the *gradient*, so it goes through both means and the division. "
            "That is Adam with an L2 penalty. AdamW takes rate · decay · weight off directly.",
            decay_in_gradient=True,
        ),
        _after(
            "another decay",
            "Adam's part of the step and both means are right; the decay is not, or is missing. "
            "Besides that part, rate · decay · weight is taken *off*, of the weight that came in.",
            _decayed(lambda w, right, rate, decay: 0.0 * w),
            _decayed(lambda w, right, rate, decay: decay * w),
            _decayed(lambda w, right, rate, decay: -rate * decay * w),
            _decayed(lambda w, right, rate, decay: rate * decay * torch.ones_like(w)),
            _decayed(lambda w, right, rate, decay: rate * decay * (right + rate * decay * w)),
        ),
        Mistake(
            "no correction",
            _adamw(powers=lambda t, _: (0, 0)),
            "the bias correction is left out, of m, of v or of both. The means start at 0 and are "
            "too small at first: divide m by 1 − β1^t and v by 1 − β2^t.",
            also=(
                _adamw(powers=lambda t, _: (BETA1**t, 0)),
                _adamw(powers=lambda t, _: (0, BETA2**t)),
            ),
        ),
        _after(
            "corrected means kept",
            "the new weight is right, and you return the corrected m and v. The means go on "
            "uncorrected; the correction serves one step only.",
            lambda right, w, g, m, v, t, *rest: (
                right[0],
                right[1] / (1 - BETA1**t),
                right[2] / (1 - BETA2**t),
            ),
        ),
        _but(
            "one update early",
            "the correction uses the exponent t − 1, which divides by 0 at the first update. "
            "`update` counts from 1 already.",
            powers=lambda t, _: (BETA1 ** (t - 1), BETA2 ** (t - 1)),
        ),
        _but(
            "β2 of PyTorch",
            "β2 is 0.999, the default of PyTorch. The paper has 0.98.",
            shares=(BETA1, 1 - BETA1, 0.999, 1 - 0.999),
            powers=lambda t, _: (BETA1**t, 0.999**t),
        ),
        _but(
            "ε of PyTorch",
            "ε is 1e-8, the default of PyTorch. The paper has 1e-9. With tiny gradients it shows.",
            towards=lambda m_hat, v_hat: m_hat / (v_hat.sqrt() + 1e-8),
        ),
        _but(
            "ε inside the root",
            "ε stands inside the root. There it counts as its root, 3e-5, and tiny gradients are "
            "lost. It is added after the root.",
            towards=lambda m_hat, v_hat: m_hat / (v_hat + EPS).sqrt(),
        ),
    ],
    right="`adamw_step` is right, from the first update on and for tiny gradients",
)
