"""Label smoothing (§5.4): the loss, written plainly and written fast.

The target distribution of one position is (1 − ε) on the gold token plus ε spread evenly over
**all** `vocab_size` classes, the gold token and padding's own column included. This is the
convention of `torch.nn.functional.cross_entropy(label_smoothing=ε)`, so that the two can be
compared. (tensor2tensor spreads ε over the other V − 1 classes; with V = 37 000 the two
differ by ε/V on each class.) Positions whose target is `pad_id` count nowhere.
"""

from typing import Any, Literal

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable

from transformer.config import PAD_ID

Reduction = Literal["mean", "sum"]


def label_smoothed_cross_entropy(
    logits: Float[Tensor, "*positions vocab_size"],
    target: Int[Tensor, "*positions"],
    *,
    smoothing: float = 0.1,
    pad_id: int = PAD_ID,
    reduction: Reduction = "mean",
) -> Float[Tensor, ""]:
    """Cross-entropy against the smoothed target distribution (§5.4), in nats.

    `reduction="mean"` divides by the number of target tokens that are not padding;
    `"sum"` does not divide.

    Raises:
        ValueError: smoothing outside [0, 1), or a target that is only padding under "mean".
    """
    check_smoothing(smoothing)
    log_probs = F.log_softmax(logits.flatten(0, -2).float(), dim=-1)
    target = target.flatten()
    is_token = target != pad_id
    gold = log_probs.gather(-1, target[:, None]).squeeze(-1)
    even = log_probs.mean(dim=-1)
    loss = -((1 - smoothing) * gold + smoothing * even)
    total = loss[is_token].sum()
    return total if reduction == "sum" else total / _count(is_token)


def cross_entropy(
    logits: Float[Tensor, "*positions vocab_size"],
    target: Int[Tensor, "*positions"],
    *,
    pad_id: int = PAD_ID,
    reduction: Reduction = "mean",
) -> Float[Tensor, ""]:
    """Unsmoothed cross-entropy in nats: what validation perplexity is the exponential of."""
    return label_smoothed_cross_entropy(
        logits, target, smoothing=0.0, pad_id=pad_id, reduction=reduction
    )


def smoothed_projection_loss(
    states: Float[Tensor, "*positions d_model"],
    weight: Float[Tensor, "vocab_size d_model"],
    target: Int[Tensor, "*positions"],
    *,
    smoothing: float = 0.1,
    pad_id: int = PAD_ID,
    chunk: int | None = None,
) -> Float[Tensor, ""]:
    """Projection (§3.4), softmax and smoothed loss (§5.4) in one step; the **sum** over tokens.

    Equal to `label_smoothed_cross_entropy(states @ weight.T, target, reduction="sum")`. It is
    faster for two reasons. Padding is left out before the projection, and the gradient
    (softmax − target distribution) is made from the logits while they are still in the
    processor's cache, `chunk` positions at a time (default 256; 8 192 on a GPU, which is quick
    with what is large). No logits wait for the backward pass.

    Raises:
        ValueError: smoothing outside [0, 1).
    """
    check_smoothing(smoothing)
    target = target.flatten()
    is_token = target != pad_id
    rows = states.flatten(0, -2)[is_token]
    chunk = chunk or chunk_for(rows, on_cpu=256)
    loss: Tensor = _ProjectionLoss.apply(rows, weight, target[is_token], smoothing, chunk)
    return loss


class _ProjectionLoss(torch.autograd.Function):
    """Computes the loss and, at once, its gradients; backward only scales them."""

    @staticmethod
    def forward(
        ctx: Any, states: Tensor, weight: Tensor, target: Tensor, smoothing: float, chunk: int
    ) -> Tensor:
        grad_states, grad_weight = torch.empty_like(states), torch.zeros_like(weight)
        loss = states.new_zeros((), dtype=torch.promote_types(states.dtype, torch.float32))
        even = smoothing / len(weight)  # what smoothing gives each class
        weight_sum = weight.sum(dim=0)
        for start in range(0, len(target), chunk):
            rows, gold = states[start : start + chunk], target[start : start + chunk, None]
            logits = (rows @ weight.T).to(loss.dtype)
            gold_logits, top = logits.gather(-1, gold), logits.amax(dim=-1, keepdim=True)
            exps = logits.sub_(top).exp_()  # in place from here on: the cache holds one copy
            total = exps.sum(dim=-1, keepdim=True)
            loss += (top + total.log() - (1 - smoothing) * gold_logits).sum()
            loss -= even * (rows @ weight_sum).sum()  # the sum of all logits
            if not any(ctx.needs_input_grad):
                continue
            # d loss / d logits = softmax − (1 − ε) at the gold token − ε/V everywhere
            grad = exps.div_(total)
            grad.scatter_add_(-1, gold, grad.new_full(gold.shape, smoothing - 1))
            grad_states[start : start + chunk] = grad @ weight
            grad_weight += grad.T @ rows
        grad_states -= even * weight_sum
        grad_weight -= even * states.sum(dim=0)
        ctx.save_for_backward(grad_states, grad_weight)
        return loss

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_loss: Tensor) -> tuple[Tensor, Tensor, None, None, None]:
        grad_states, grad_weight = ctx.saved_tensors
        return (
            grad_states * grad_loss.to(grad_states.dtype),
            grad_weight * grad_loss.to(grad_weight.dtype),
            None,
            None,
            None,
        )


def chunk_for(rows: Tensor, *, on_cpu: int) -> int:
    """Positions to project at a time: few for a processor's cache, many for a GPU."""
    return on_cpu if rows.device.type == "cpu" else 8192


def check_smoothing(smoothing: float) -> None:
    """Raise ValueError unless 0 ≤ smoothing < 1."""
    if not 0 <= smoothing < 1:
        raise ValueError(f"smoothing must lie in [0, 1), got {smoothing}")


def _count(is_token: Tensor) -> Tensor:
    count = is_token.sum()
    if not count:
        raise ValueError(
            f"a mean needs at least one target token, got {is_token.numel()} positions of padding"
        )
    return count
