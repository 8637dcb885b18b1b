"""R-Drop (Liang et al. 2021; not in the paper): two passes with dropout shall agree.

The loss of two passes P and Q through the model is half of Eq. 4 of that article, so that it
stays comparable with the loss of one pass:

    (loss of P + loss of Q) / 2 + α/4 · (KL(P‖Q) + KL(Q‖P)),   summed over the target tokens.
"""

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable

from transformer.config import PAD_ID
from transformer.training.loss import check_smoothing, chunk_for


def r_drop_projection_loss(
    states: Float[Tensor, "passes_and_batch target_len d_model"],
    weight: Float[Tensor, "vocab_size d_model"],
    target: Int[Tensor, "batch target_len"],
    *,
    alpha: float,
    smoothing: float = 0.1,
    pad_id: int = PAD_ID,
    chunk: int | None = None,
) -> Float[Tensor, ""]:
    """Projection (§3.4), softmax and R-Drop loss in one step; the **sum** over tokens.

    `states` holds the batch twice: the first pass, then the second. As in
    `smoothed_projection_loss`, gradients are made while the logits are at hand.

    Raises:
        ValueError: `states` is not the batch twice, smoothing outside [0, 1), alpha below 0.
    """
    check_smoothing(smoothing)
    if alpha < 0:
        raise ValueError(f"alpha must be at least 0, got {alpha}")
    if len(states) != 2 * len(target):
        raise ValueError(
            f"states must hold each of {len(target)} targets twice, got {len(states)} rows"
        )
    is_token = target != pad_id
    first, second = (states[is_token] for states in states.chunk(2))
    chunk = chunk or chunk_for(first, on_cpu=128)
    loss: Tensor = _RDropLoss.apply(
        first, second, weight, target[is_token], smoothing, alpha, chunk
    )
    return loss


class _RDropLoss(torch.autograd.Function):
    """Computes the loss and, at once, its gradients; backward only scales them."""

    @staticmethod
    def forward(
        ctx: Any,
        first: Tensor,
        second: Tensor,
        weight: Tensor,
        target: Tensor,
        smoothing: float,
        alpha: float,
        chunk: int,
    ) -> Tensor:
        passes = (first, second)
        grads = tuple(torch.empty_like(states) for states in passes)
        grad_weight = torch.zeros_like(weight)
        loss = first.new_zeros((), dtype=torch.promote_types(first.dtype, torch.float32))
        even, pull = smoothing / len(weight), alpha / 4
        for start in range(0, len(target), chunk):
            part = slice(start, start + chunk)
            gold = target[part, None]
            log_p, log_q = (
                torch.log_softmax((states[part] @ weight.T).to(loss.dtype), dim=-1)
                for states in passes
            )
            for log_probs in (log_p, log_q):
                loss -= (1 - smoothing) / 2 * log_probs.gather(-1, gold).sum()
                loss -= even / 2 * log_probs.sum()
            p, q = log_p.exp(), log_q.exp()
            apart = log_p.sub_(log_q)
            p_apart = p * apart
            q_apart = torch.mul(q, apart, out=apart)
            kl_pq, kl_qp = (x.sum(dim=-1, keepdim=True) for x in (p_apart, -q_apart))
            loss += pull * (kl_pq + kl_qp).sum()
            # d KL(P‖Q) / d logits is P (log P − log Q − KL) for P's own logits, Q − P for Q's
            grad_p = p_apart.mul_(pull).addcmul_(p, 0.5 + pull * (1 - kl_pq)).sub_(q, alpha=pull)
            grad_q = q_apart.mul_(-pull).addcmul_(q, 0.5 + pull * (1 - kl_qp)).sub_(p, alpha=pull)
            for states, grad, grad_states in zip(passes, (grad_p, grad_q), grads, strict=True):
                grad.scatter_add_(-1, gold, grad.new_full(gold.shape, (smoothing - 1) / 2))
                grad_states[part] = grad @ weight
                grad_weight += grad.T @ states[part]
        for states, grad_states in zip(passes, grads, strict=True):
            grad_states -= even / 2 * weight.sum(dim=0)  # what smoothing gives each class
            grad_weight -= even / 2 * states.sum(dim=0)
        ctx.save_for_backward(*grads, grad_weight)
        return loss

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_loss: Tensor) -> tuple[Tensor | None, ...]:
        scaled = (grad * grad_loss.to(grad.dtype) for grad in ctx.saved_tensors)
        return (*scaled, None, None, None, None)
