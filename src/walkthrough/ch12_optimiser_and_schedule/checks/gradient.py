"""The check of chapter 12 on the gradient of an update: mean over tokens, clipped (§5.3)."""

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from walkthrough.checking import Arguments, Case, Check, Mistake, arguments

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
            "tensor by tensor",
            "every tensor is clipped by its own length. The length is that of *all* of them "
            "together, so that the direction of the update stays.",
            clip=lambda gradient, limit: [_clipped([part], limit)[0] for part in gradient],
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
            "each batch clipped",
            "every batch is clipped before it is added. Clip once, at the end: one unusual batch "
            "in an update is what the mean is for.",
            clip_batch=True,
            **_by(lambda limit, length: 1.0),
        ),
    ],
    right="`update_gradient` is right: every token counts once, and one length limits all",
)
