"""The checks of chapter 12 on the optimiser: the gradient of an update, a step of AdamW (§5.3)."""

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from walkthrough.checking.base import Arguments, Case, Check, Mistake, Symptom, arguments

BETA1, BETA2, EPS = 0.9, 0.98, 1e-9

# Exercise: the gradient of an update --------------------------------------------------------------

Gradients = Sequence[Sequence[Tensor]]
Combine = Callable[[Gradients, Sequence[int], float], list[Tensor]]


def _length(gradient: Sequence[Tensor]) -> float:
    return math.sqrt(sum(float((part**2).sum()) for part in gradient))


def _clipped(gradient: Sequence[Tensor], max_norm: float) -> list[Tensor]:
    factor = min(1.0, max_norm / _length(gradient))
    return [factor * part for part in gradient]


def _weighted(
    gradients: Gradients, n_tokens: Sequence[int], weigh: Callable[[int, int, int], float]
) -> list[Tensor]:
    """Sums of all batches; `weigh` gets a batch's tokens, those of all, and how many batches."""
    weights = [weigh(n, sum(n_tokens), len(n_tokens)) for n in n_tokens]
    return [
        torch.stack([w * part for w, part in zip(weights, parts, strict=True)]).sum(0)
        for parts in zip(*gradients, strict=True)
    ]


def _combined(
    *,
    weigh: Callable[[int, int, int], float] = lambda n, total, n_batches: n / total,
    clip: Callable[[list[Tensor], float], list[Tensor]] = _clipped,
    clip_batch: bool = False,
) -> Combine:
    """The gradient of an update, with one thing changed."""

    def combine(gradients: Gradients, n_tokens: Sequence[int], max_norm: float) -> list[Tensor]:
        if clip_batch:
            gradients = [_clipped(gradient, max_norm) for gradient in gradients]
        return clip(_weighted(gradients, n_tokens, weigh), max_norm)

    return combine


def _with_length(length: Callable[[list[Tensor]], float]) -> dict[str, object]:
    """Changes for `_combined`: another length of the gradient."""

    def clip(gradient: list[Tensor], max_norm: float) -> list[Tensor]:
        factor = min(1.0, max_norm / length(gradient))
        return [factor * part for part in gradient]

    return {"clip": clip}


def _by(factor: Callable[[float, float], float]) -> dict[str, object]:
    """Changes for `_combined`: another factor, from the limit and the length."""
    return {
        "clip": lambda gradient, max_norm: [
            factor(max_norm, _length(gradient)) * part for part in gradient
        ]
    }


def _changed(name: str, say: str, **changes: object) -> Mistake:
    return Mistake(name, _combined(**changes), say, changes)  # type: ignore[arg-type]


def _of_batches(
    n_tokens: list[int], max_norm: float, size: float = 1.0
) -> Callable[[torch.Generator], Arguments]:
    def make(generator: torch.Generator) -> Arguments:
        def drawn(*shape: int) -> Tensor:
            return size * torch.randn(*shape, dtype=torch.float64, generator=generator)

        return arguments([[drawn(2, 3), drawn(4)] for _ in n_tokens], list(n_tokens), max_norm)

    return make


update_gradient = Check(
    name="update_gradient",
    reference=_combined(),
    cases=[
        Case("two batches of equal size, nothing to clip", _of_batches([6, 6], 50.0)),
        Case("three batches of different size, nothing to clip", _of_batches([10, 3, 7], 50.0)),
        Case("three batches, a gradient that is too long", _of_batches([10, 3, 7], 0.5, 4.0)),
        Case("one batch, a gradient that is too long", _of_batches([5], 2.0, 3.0)),
    ],
    build=_combined,
    tolerance=1e-7,
    mistakes=[
        _changed(
            "plain mean",
            "every *batch* counts the same here. Every token should: a batch has the share "
            "`n_tokens[b] / sum(n_tokens)`.",
            weigh=lambda n, total, n_batches: 1 / n_batches,
        ),
        _changed(
            "sum",
            "the batches' gradients are added up and not averaged. Each is the gradient of a "
            "*mean* over its tokens: weigh it with its share of all tokens.",
            weigh=lambda n, total, n_batches: 1.0,
        ),
        _changed(
            "not divided",
            "each gradient is multiplied by its number of tokens, and the sum is not divided by "
            "the number of all.",
            weigh=lambda n, total, n_batches: float(n),
        ),
        _changed(
            "divided by its own tokens",
            "each gradient is divided by its number of tokens. It is a mean already; give it its "
            "share of all tokens.",
            weigh=lambda n, total, n_batches: 1 / n,
        ),
        _changed(
            "shares lost in integer division",
            "`//` rounds the shares down to 0. Divide with `/`.",
            weigh=lambda n, total, n_batches: float(n // total),
        ),
        Mistake(
            "shares in another order",
            lambda gradients, n_tokens, max_norm: _combined()(gradients, n_tokens[::-1], max_norm),
            "the shares belong to the batches in reverse: `n_tokens[b]` goes with `gradients[b]`.",
        ),
        Mistake(
            "last batch only",
            lambda gradients, n_tokens, max_norm: _clipped(gradients[-1], max_norm),
            "this is the gradient of the last batch. The others are forgotten.",
        ),
        Mistake(
            "first batch only",
            lambda gradients, n_tokens, max_norm: _clipped(gradients[0], max_norm),
            "this is the gradient of the first batch. The others are forgotten.",
        ),
        _changed(
            "no clipping",
            "the gradient is not clipped: where it is longer than `max_norm`, it has to be "
            "shortened to that length.",
            **_by(lambda limit, length: 1.0),
        ),
        _changed(
            "always that long",
            "the gradient always gets the length `max_norm`. One that is shorter stays as it is.",
            **_by(lambda limit, length: limit / length),
        ),
        _changed(
            "short ones made longer",
            "short gradients are made longer and long ones stay (`max`). The factor is at most 1: "
            "`min`.",
            **_by(lambda limit, length: max(1.0, limit / length)),
        ),
        _changed(
            "quotient upside down",
            "the factor is upside down: length through limit. A gradient twice too long is "
            "multiplied by one half.",
            **_by(lambda limit, length: min(1.0, length / limit)),
        ),
        _changed(
            "tensor by tensor",
            "every tensor is clipped by its own length. The length is that of *all* of them "
            "together, so that the direction of the update stays.",
            clip=lambda gradient, limit: [_clipped([part], limit)[0] for part in gradient],
        ),
        _changed(
            "number by number",
            "every number is cut off at `max_norm` (`clamp`), which turns the direction. Multiply "
            "the whole gradient by one factor.",
            clip=lambda gradient, limit: [part.clamp(-limit, limit) for part in gradient],
        ),
        _changed(
            "square of the length",
            "the length lacks its root: this is the sum of squares.",
            **_with_length(lambda gradient: _length(gradient) ** 2),
        ),
        _changed(
            "lengths added",
            "the lengths of the tensors are added. Lengths add like the sides of a right angle: "
            "add the *squares*, then take the root.",
            **_with_length(lambda gradient: sum(_length([part]) for part in gradient)),
        ),
        _changed(
            "absolute values added",
            "the length is taken as the sum of absolute values. It is the root of the sum of "
            "squares.",
            **_with_length(lambda gradient: float(sum(part.abs().sum() for part in gradient))),
        ),
        _changed(
            "the largest number",
            "the largest number is taken for the length. The length is the root of the sum of "
            "squares.",
            **_with_length(lambda gradient: float(max(part.abs().max() for part in gradient))),
        ),
        _changed(
            "mean of the squares",
            "the length is made of *means* of squares. Add the squares of all numbers up.",
            **_with_length(
                lambda gradient: math.sqrt(sum(float((part**2).mean()) for part in gradient))
            ),
        ),
        Mistake(
            "length of all batches",
            lambda gradients, n_tokens, max_norm: [
                min(1.0, max_norm / _length([p for g in gradients for p in g])) * part
                for part in _weighted(gradients, n_tokens, lambda n, total, _: n / total)
            ],
            "the length is that of all the batches' gradients. Average first, then measure the "
            "one gradient that is left.",
        ),
        _changed(
            "each batch clipped",
            "every batch is clipped before it is added. Clip once, at the end: one unusual batch "
            "in an update is what the mean is for.",
            clip_batch=True,
            **_by(lambda limit, length: 1.0),
        ),
        Mistake(
            "uphill or down",
            lambda gradients, n_tokens, max_norm: [
                -part for part in _combined()(gradients, n_tokens, max_norm)
            ],
            "the sign is turned. Return the gradient; the optimiser subtracts it.",
        ),
        Mistake(
            "one long tensor",
            lambda gradients, n_tokens, max_norm: torch.cat(
                [part.flatten() for part in _combined()(gradients, n_tokens, max_norm)]
            ),
            "the numbers are right, but in one long tensor. Return a list with one tensor for "
            "each parameter, in its shape.",
        ),
    ],
    symptoms=[
        Symptom(
            "tensors missing",
            lambda result, expected, given: len(result) < len(expected),
            "there are fewer tensors than parameters. Return one for each; did a `return` slip "
            "into the loop?",
        ),
    ],
    right="`update_gradient` is right: every token counts once, and one length limits all",
)

# Exercise: a step of AdamW ------------------------------------------------------------------------

Step = Callable[..., tuple[Tensor, Tensor, Tensor]]
Second = Callable[[Tensor, Tensor], Tensor]


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
    return Mistake(name, _adamw(**changes), say, changes)  # type: ignore[arg-type]


def _after(name: str, say: str, change: Callable[..., object]) -> Mistake:
    """A mistake made with right results: `change` gets them and the arguments."""
    return Mistake(name, lambda *given: change(_adamw()(*given), *given), say)


def _eps_unscaled(
    weight: Tensor,
    gradient: Tensor,
    m: Tensor,
    v: Tensor,
    update: int,
    rate: float,
    decay: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """Kingma's shorter form, with his ε̂ taken for ε."""
    _, m, v = _adamw()(weight, gradient, m, v, update, rate, decay)
    scale = math.sqrt(1 - BETA2**update) / (1 - BETA1**update)
    return weight - rate * (scale * m / (v.sqrt() + EPS) + decay * weight), m, v


def _decay_in_m(*, off_the_weight: float) -> Step:
    """The decay goes into m and not into v; `off_the_weight` of it comes off directly, too."""

    def step(
        weight: Tensor,
        gradient: Tensor,
        m: Tensor,
        v: Tensor,
        update: int,
        rate: float,
        decay: float,
    ) -> tuple[Tensor, Tensor, Tensor]:
        _, _, new_v = _adamw()(weight, gradient, m, v, update, rate, decay)
        m = BETA1 * m + (1 - BETA1) * (gradient + decay * weight)
        direction = _direction(m / (1 - BETA1**update), new_v / (1 - BETA2**update))
        return weight - rate * (direction + off_the_weight * decay * weight), m, new_v

    return step


def _old_means(
    weight: Tensor,
    gradient: Tensor,
    m: Tensor,
    v: Tensor,
    update: int,
    rate: float,
    decay: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """The means as they came go into the step."""
    _, new_m, new_v = _adamw()(weight, gradient, m, v, update, rate, decay)
    m_hat, v_hat = m / (1 - BETA1**update), v / (1 - BETA2**update)
    return weight - rate * (_direction(m_hat, v_hat) + decay * weight), new_m, new_v


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
    build=_adamw,
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
