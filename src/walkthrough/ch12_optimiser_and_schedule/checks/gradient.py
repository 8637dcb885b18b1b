"""The check of chapter 12 on the gradient of an update: mean over tokens, clipped (§5.3)."""

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from walkthrough.checking.base import Arguments, Case, Check, Mistake, Symptom, arguments

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
    return Mistake(name, _combined(**changes), say)  # type: ignore[arg-type]


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
