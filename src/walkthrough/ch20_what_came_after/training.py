"""Training the stacks: Adam with a warm-up, as the paper's; AdamW, a stable rate, Muon (§5.3)."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from transformer.config import PAD_ID
from transformer.data.batching import Pair, token_batches
from transformer.training.loss import smoothed_projection_loss
from transformer.training.schedule import linear_rate
from walkthrough.ch20_what_came_after.scores import Seen, clip_scores, seen_scores
from walkthrough.ch20_what_came_after.stream import Stack, Streams, streams

OptimizerName = Literal["Adam", "AdamW", "Muon"]
ScheduleName = Literal["linear", "stable", "constant"]
MUON_RATE = 0.02
DECAY_SHARE = 0.2
"""The last part of a warm-up–stable–decay run, in which the rate falls to 0."""


@dataclass(frozen=True)
class Recipe:
    """How to train: the rate rises to `peak` in `warmup` updates, then follows the schedule.

    Muon's matrices have a peak of their own. Scores are clipped that pass `score_bound` (QK-clip).
    """

    updates: int = 600
    peak: float = 3e-3
    warmup: int = 60
    max_tokens: int = 384
    optimizer: OptimizerName = "Adam"
    schedule: ScheduleName = "linear"
    muon_peak: float = MUON_RATE
    score_bound: float = math.inf


def batches(pairs: Sequence[Pair], *, max_tokens: int, seed: int) -> Iterator[Streams]:
    """Yield batches without end; every epoch mixes them anew."""
    epoch = 0
    while True:
        for indices in token_batches(pairs, max_tokens=max_tokens, seed=seed, epoch=epoch):
            yield streams([pairs[index] for index in indices])
        epoch += 1


def stream_loss(model: Stack, batch: Streams) -> Float[Tensor, ""]:
    """Return the mean loss of the words that are to be predicted."""
    states, weight = model(batch.tokens), model.embedding.weight
    total = smoothed_projection_loss(states, weight, batch.labels, smoothing=0.0)
    return total / (batch.labels != PAD_ID).sum()


def train(
    model: nn.Module,
    losses: Iterable[Tensor],
    recipe: Recipe,
    watch: Callable[[int], object] | None = None,
) -> nn.Module:
    """Update the model for each of the losses, which come one at a time; return it for use.

    `watch` is called with the number of every update made.
    """
    optimizers = make_optimizers(model, recipe)
    model.train()
    bounded = recipe.score_bound < math.inf
    watched: AbstractContextManager[Seen] = seen_scores(model) if bounded else nullcontext({})
    with watched as seen:
        for update, loss in zip(range(1, recipe.updates + 1), losses, strict=False):
            share = rate_share(update, recipe)
            for optimizer in optimizers:
                for group in optimizer.param_groups:
                    group["lr"] = share * group["peak"]
                optimizer.zero_grad()
            loss.backward()
            for optimizer in optimizers:
                optimizer.step()
            clip_scores(seen, recipe.score_bound)
            if watch is not None:
                watch(update)
    return model.eval()


def train_stream(
    model: Stack,
    pairs: Sequence[Pair],
    recipe: Recipe,
    *,
    seed: int,
    watch: Callable[[int], object] | None = None,
) -> Stack:
    """Train a decoder-only model on sentence pairs, each as one sequence."""
    data = batches(pairs, max_tokens=recipe.max_tokens, seed=seed)
    train(model, (stream_loss(model, batch) for batch in data), recipe, watch)
    return model


def rate_share(update: int, recipe: Recipe) -> float:
    """Return the rate of an update as a share of the peak.

    "linear" falls from the warm-up to the end; "stable" (warm-up–stable–decay) only in the last
    fifth; "constant" never.
    """
    end = recipe.updates + 1
    if recipe.schedule == "linear":
        return linear_rate(update, peak=1.0, warmup=recipe.warmup, total=end)
    rising = min(1.0, update / recipe.warmup)
    if recipe.schedule == "constant":
        return rising
    return min(rising, (end - update) / (DECAY_SHARE * recipe.updates))


def make_optimizers(model: nn.Module, recipe: Recipe) -> list[torch.optim.Optimizer]:
    """Return the optimisers of a recipe, each group with its `peak`.

    AdamW pulls matrices towards 0, and no gains or biases. Muon takes the matrices of the layers
    and leaves the rest to AdamW.
    """
    if recipe.optimizer == "Adam":
        group: dict[str, Any] = {"params": list(model.parameters()), "peak": recipe.peak}
        return [torch.optim.Adam([group], betas=(0.9, 0.98), eps=1e-9, fused=True)]
    inner = [
        parameter
        for name, parameter in model.named_parameters()
        if parameter.ndim == 2 and recipe.optimizer == "Muon" and "embedding" not in name
    ]
    known = {id(parameter) for parameter in inner}
    rest = [parameter for parameter in model.parameters() if id(parameter) not in known]
    groups = [
        {"params": [p for p in rest if p.ndim > 1], "peak": recipe.peak, "weight_decay": 0.1},
        {"params": [p for p in rest if p.ndim < 2], "peak": recipe.peak, "weight_decay": 0.0},
    ]
    found: list[torch.optim.Optimizer] = [
        torch.optim.AdamW(groups, betas=(0.9, 0.95), eps=1e-9, fused=True)
    ]
    return [*found, Muon([{"params": inner, "peak": recipe.muon_peak}])] if inner else found


def orthogonalised(
    matrix: Float[Tensor, "rows columns"], steps: int = 5
) -> Float[Tensor, "rows columns"]:
    """Return nearly U Vᵀ where the matrix is U S Vᵀ: all singular values become about 1.

    Each step is an odd polynomial of the matrix (Newton–Schulz), so only products are needed.
    """
    a, b, c = 3.4445, -4.7750, 2.0315  # Jordan's: steep at 0, between 0.7 and 1.2 near 1
    x = matrix / (matrix.norm() + 1e-7)
    for _ in range(steps):
        square = x @ x.T
        x = a * x + (b * square + c * square @ square) @ x
    return x


class Muon(torch.optim.Optimizer):
    """Momentum whose step is orthogonalised: every direction of a matrix moves equally far."""

    def __init__(self, params: Any, *, lr: float = MUON_RATE, momentum: float = 0.95) -> None:
        super().__init__(params, {"lr": lr, "momentum": momentum})

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        """Move every matrix once."""
        for group in self.param_groups:
            for matrix in group["params"]:
                mean = self.state[matrix].setdefault("mean", torch.zeros_like(matrix))
                mean.mul_(group["momentum"]).add_(matrix.grad)
                ahead = matrix.grad + group["momentum"] * mean  # Nesterov's
                shape = max(1.0, matrix.shape[0] / matrix.shape[1]) ** 0.5
                matrix.sub_(orthogonalised(ahead), alpha=group["lr"] * shape)
