"""The check of chapter 12 on a step of AdamW (§5.3)."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

from walkthrough.checking.base import Arguments, Case, Check, Mistake, arguments

BETA1, BETA2, EPS = 0.9, 0.98, 1e-9


Step = Callable[..., tuple[Tensor, Tensor, Tensor]]
Second = Callable[[Tensor, Tensor], Tensor]


class Given(NamedTuple):
    """The arguments of a step, by name."""

    weight: Tensor
    gradient: Tensor
    m: Tensor
    v: Tensor
    update: int
    rate: float
    decay: float

    def less(self, towards: Tensor) -> Tensor:
        """Return the weight after a step against `towards`."""
        return self.weight - self.rate * towards


def _direction(m_hat: Tensor, v_hat: Tensor) -> Tensor:
    return m_hat / (v_hat.sqrt() + EPS)


def _adamw(
    *,
    shares: tuple[float, float, float, float] = (BETA1, 1 - BETA1, BETA2, 1 - BETA2),
    powers: Callable[[float, int], tuple[float, float]] = lambda t, _: (BETA1**t, BETA2**t),
    correct: Callable[[Tensor, float], Tensor] = lambda mean, power: mean / (1 - power),
    corrected: tuple[bool, bool] = (True, True),
    second: Second = lambda gradient, m: gradient**2,
    towards: Callable[[Tensor, Tensor], Tensor] = _direction,
    decayed: str = "the weight",
    sign: int = -1,
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
        in_gradient = decayed in ("the gradient", "both")
        seen = gradient + decay * weight if in_gradient else gradient
        m = shares[0] * m + shares[1] * seen
        v = shares[2] * v + shares[3] * second(seen, m)
        first_power, second_power = powers(update, update)
        m_hat = correct(m, first_power) if corrected[0] else m
        v_hat = correct(v, second_power) if corrected[1] else v
        if decayed == "the quotient":
            m_hat = m_hat + decay * weight
        new = weight + sign * rate * towards(m_hat, v_hat)
        if decayed in ("the weight", "both"):
            new = new + sign * rate * decay * weight
        return new, m, v

    return step


def _but(name: str, say: str, **changes: object) -> Mistake:
    return Mistake(name, _adamw(**changes), say)  # type: ignore[arg-type]


def _after(name: str, say: str, change: Callable[..., object]) -> Mistake:
    """A mistake made with right results: `change` gets them and the arguments."""
    return Mistake(name, lambda *given: change(_adamw()(*given), *given), say)


def _eps_unscaled(*given: Any) -> tuple[Tensor, Tensor, Tensor]:
    """Kingma's shorter form, with his ε̂ taken for ε."""
    at = Given(*given)
    _, m, v = _adamw()(*given)
    scale = math.sqrt(1 - BETA2**at.update) / (1 - BETA1**at.update)
    return at.less(scale * m / (v.sqrt() + EPS) + at.decay * at.weight), m, v


def _decay_in_m(*, off_the_weight: float) -> Step:
    """The decay goes into m and not into v; `off_the_weight` of it comes off directly, too."""

    def step(*given: Any) -> tuple[Tensor, Tensor, Tensor]:
        at = Given(*given)
        v = _adamw()(*given)[2]
        m = BETA1 * at.m + (1 - BETA1) * (at.gradient + at.decay * at.weight)
        direction = _direction(m / (1 - BETA1**at.update), v / (1 - BETA2**at.update))
        return at.less(direction + off_the_weight * at.decay * at.weight), m, v

    return step


def _old_means(*given: Any) -> tuple[Tensor, Tensor, Tensor]:
    """The means as they came go into the step."""
    at = Given(*given)
    _, m, v = _adamw()(*given)
    direction = _direction(at.m / (1 - BETA1**at.update), at.v / (1 - BETA2**at.update))
    return at.less(direction + at.decay * at.weight), m, v


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
        Case("update 7", _state(7, 1.0)),
        Case("update 40, with gradients near 1e-9", _state(40, 1e-9)),
    ],
    tolerance=1e-7,
    mistakes=[
        _but(
            "no decay",
            "this is Adam's step: the decay of the weight is missing.",
            decayed="nothing",
        ),
        _but(
            "decay in the gradient",
            "the decay is added to the *gradient*, so it goes through both means and the division. "
            "That is Adam with an L2 penalty. AdamW takes rate · decay · weight off directly.",
            decayed="the gradient",
        ),
        _but(
            "decay in both",
            "the weight decays twice: the decay is added to the gradient *and* taken off the "
            "weight. AdamW does the second alone.",
            decayed="both",
        ),
        _but(
            "decay in the quotient",
            "the decay is divided by √v̂ as well. It stands beside the quotient, not within.",
            decayed="the quotient",
        ),
        Mistake(
            "decay in m",
            _decay_in_m(off_the_weight=0.0),
            "the decay is added to the gradient that m takes in. AdamW keeps it out of both "
            "means: rate · decay · weight comes off directly.",
        ),
        Mistake(
            "decay in m as well",
            _decay_in_m(off_the_weight=1.0),
            "the weight decays twice: the decay is added to the gradient that m takes in *and* "
            "taken off the weight. AdamW does the second alone.",
        ),
        _after(
            "decay without the rate",
            "decay · weight comes off without the learning rate. Both parts of the step are "
            "multiplied by it.",
            lambda right, w, g, m, v, t, rate, decay: (
                right[0] + (rate - 1) * decay * w,
                *right[1:],
            ),
        ),
        _after(
            "decay upwards",
            "the decay makes the weight *larger*. It pulls towards 0: subtract it.",
            lambda right, w, g, m, v, t, rate, decay: (
                right[0] + 2 * rate * decay * w,
                *right[1:],
            ),
        ),
        _after(
            "decay of the new weight",
            "the decay takes its share of the weight *after* the step. Take it of the weight that "
            "came in, as the formula says.",
            lambda right, w, g, m, v, t, rate, decay: (
                (right[0] + rate * decay * w) * (1 - rate * decay),
                *right[1:],
            ),
        ),
        _after(
            "decay is a factor",
            "the weight is multiplied by `decay`. What is left of it is 1 − rate · decay.",
            lambda right, w, g, m, v, t, rate, decay: (
                right[0] + rate * decay * w - w + decay * w,
                *right[1:],
            ),
        ),
        _after(
            "decay of the gradient",
            "the decay is taken of the gradient. It is a share of the *weight*.",
            lambda right, w, g, m, v, t, rate, decay: (
                right[0] + rate * decay * (w - g),
                *right[1:],
            ),
        ),
        _after(
            "decay of the square",
            "the decay is taken of the square of the weight. It is a share of the weight itself: "
            "the square stands in the penalty, and its gradient is the weight.",
            lambda right, w, g, m, v, t, rate, decay: (
                right[0] + rate * decay * (w - w**2),
                *right[1:],
            ),
        ),
        _but(
            "no correction",
            "the bias correction is left out. Both means start at 0 and are too small at first: "
            "divide m by 1 − β1^t and v by 1 − β2^t.",
            corrected=(False, False),
        ),
        _but(
            "only m corrected",
            "m is corrected and v is not. v has started at 0 as well: divide it by 1 − β2^t.",
            corrected=(True, False),
        ),
        _but(
            "only v corrected",
            "v is corrected and m is not. m has started at 0 as well: divide it by 1 − β1^t.",
            corrected=(False, True),
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
        _after(
            "old means returned",
            "the new weight is right, and you return m and v as they came. Return the new ones, "
            "or nothing is ever remembered.",
            lambda right, w, g, m, v, *rest: (right[0], m, v),
        ),
        Mistake(
            "old means used",
            _old_means,
            "the step is made with m and v as they came, and they are renewed only afterwards. "
            "Renew them first.",
        ),
        _after(
            "weight last",
            "the three are right, in the order m, v, weight. Return the weight first.",
            lambda right, *given: (right[1], right[2], right[0]),
        ),
        _after(
            "the step alone",
            "this returns the step in place of the new weight. Add it to the weight.",
            lambda right, w, *rest: (right[0] - w, *right[1:]),
        ),
        _but(
            "one update late",
            "the correction uses the exponent t + 1. At the first update t is 1, and the "
            "correction undoes (1 − β) exactly.",
            powers=lambda t, _: (BETA1 ** (t + 1), BETA2 ** (t + 1)),
        ),
        _but(
            "one update early",
            "the correction uses the exponent t − 1, which divides by 0 at the first update. "
            "`update` counts from 1 already.",
            powers=lambda t, _: (BETA1 ** (t - 1), BETA2 ** (t - 1)),
        ),
        _but(
            "times for power",
            "the correction multiplies β by t. It is β to the *power* t.",
            powers=lambda t, _: (BETA1 * t, BETA2 * t),
        ),
        _but(
            "correction without the power",
            "the correction is 1 − β at every update. The power is missing: 1 − β^t tends to 1.",
            powers=lambda t, _: (BETA1, BETA2),
        ),
        _but(
            "correction multiplied",
            "the means are *multiplied* by 1 − β^t, which makes them smaller still. Divide.",
            correct=lambda mean, power: mean * (1 - power),
        ),
        _but(
            "β swapped with 1 − β",
            "β and 1 − β have changed places: the old mean keeps the share β, the new gradient "
            "gets 1 − β.",
            shares=(1 - BETA1, BETA1, 1 - BETA2, BETA2),
        ),
        _but(
            "the two β exchanged",
            "β1 and β2 are exchanged. β1 = 0.9 belongs to the gradients, β2 = 0.98 to their "
            "squares.",
            shares=(BETA2, 1 - BETA2, BETA1, 1 - BETA1),
            powers=lambda t, _: (BETA2**t, BETA1**t),
        ),
        _but(
            "β2 of PyTorch",
            "β2 is 0.999, the default of PyTorch. The paper has 0.98.",
            shares=(BETA1, 1 - BETA1, 0.999, 1 - 0.999),
            powers=lambda t, _: (BETA1**t, 0.999**t),
        ),
        _but(
            "a sum for m",
            "m takes in the whole gradient and not 1 − β1 of it, so it is a sum (as in plain "
            "momentum). Adam's m is a mean.",
            shares=(BETA1, 1.0, BETA2, 1 - BETA2),
        ),
        _but(
            "a sum for v",
            "v takes in the whole square, so it is a sum. Adam's v is a mean: the new square gets "
            "1 − β2.",
            shares=(BETA1, 1 - BETA1, BETA2, 1.0),
        ),
        _but(
            "nothing is forgotten",
            "v adds up all squares and forgets none, which is Adagrad. Adam's v keeps β2 of what "
            "it was and takes in 1 − β2 of the new square.",
            shares=(BETA1, 1 - BETA1, 1.0, 1.0),
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
        _but(
            "no ε",
            "ε is missing: add 1e-9 to the root. With tiny gradients it shows.",
            towards=lambda m_hat, v_hat: m_hat / v_hat.sqrt(),
        ),
        Mistake(
            "ε before the correction",
            _eps_unscaled,
            "you add ε to the *uncorrected* root of v and put the corrections into the rate. "
            "Kingma's paper has this form too, with another ε, called ε̂; with the same number it "
            "is a larger ε in early updates. Correct first, then add ε.",
        ),
        _but(
            "no root",
            "you divide by v̂. Divide by its root: only then does the gradient's unit cancel.",
            towards=lambda m_hat, v_hat: m_hat / (v_hat + EPS),
        ),
        _but(
            "sign alone",
            "every weight goes the whole rate: only the sign of m̂ is used. Divide m̂ by √v̂ + ε.",
            towards=lambda m_hat, v_hat: m_hat.sign(),
        ),
        _but(
            "absolute values",
            "v takes in the gradients' absolute values. It is a mean of their squares.",
            second=lambda gradient, m: gradient.abs(),
        ),
        _but(
            "not squared",
            "v takes in the gradient itself, so it can be negative, and its root is no number. "
            "It is a mean of *squares*.",
            second=lambda gradient, m: gradient,
        ),
        _but(
            "squares of m",
            "v takes in the square of m. It is a mean of the squares of the *gradient*.",
            second=lambda gradient, m: m**2,
        ),
        _but(
            "one size for all",
            "all weights share one v, a mean over the tensor. Every weight has its own: no `mean`, "
            "no `sum`.",
            second=lambda gradient, m: (gradient**2).mean(),
        ),
        Mistake(
            "the gradient for m̂",
            lambda w, g, m, v, t, rate, decay: (
                w
                - rate
                * (_direction(g, (BETA2 * v + (1 - BETA2) * g**2) / (1 - BETA2**t)) + decay * w),
                BETA1 * m + (1 - BETA1) * g,
                BETA2 * v + (1 - BETA2) * g**2,
            ),
            "the step goes along the gradient and not along its mean m̂. m is renewed and never "
            "used.",
        ),
        _but(
            "uphill",
            "the step goes up the gradient, and the loss with it. Subtract it.",
            sign=1,
        ),
    ],
    right="`adamw_step` is right, from the first update on and for tiny gradients",
)
