"""What training lowers, and what validation reports (§5.4)."""

import math
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from transformer.data.batching import Pair, PairArrays, collate, token_batches
from transformer.model import Transformer
from transformer.training import distributed
from transformer.training.loss import smoothed_projection_loss
from transformer.training.r_drop import r_drop_projection_loss


class TranslationLoss(nn.Module):
    """Smoothed loss of a batch, summed over its target tokens (§5.4)."""

    def __init__(self, model: Transformer, *, smoothing: float, r_drop: float = 0.0) -> None:
        super().__init__()
        self.model, self.smoothing, self.r_drop = model, smoothing, r_drop

    def forward(
        self,
        source: Int[Tensor, "batch source_len"],
        target_in: Int[Tensor, "batch target_len"],
        target_out: Int[Tensor, "batch target_len"],
    ) -> Float[Tensor, ""]:
        """Run the model and compare what it predicts with `target_out`."""
        model, smoothing = self.model, self.smoothing
        if self.r_drop:  # two passes that differ by dropout
            states = model.states(source.repeat(2, 1), target_in.repeat(2, 1))
            return r_drop_projection_loss(
                *factors(model, states), target_out, alpha=self.r_drop, smoothing=smoothing
            )
        states = model.states(source, target_in)
        return smoothed_projection_loss(*factors(model, states), target_out, smoothing=smoothing)


def factors(
    model: Transformer, states: Float[Tensor, "batch length d_model"]
) -> tuple[Float[Tensor, "batch length d"], Float[Tensor, "vocab_size d"]]:
    """Return what the logits are a product of (§3.4); a bias is a column whose states are 1."""
    weight, bias = model.output_weight, model.output_bias
    if bias is None:
        return states, weight
    return F.pad(states, (0, 1), value=1.0), torch.cat([weight, bias[:, None]], dim=1)


@torch.no_grad()
def perplexity(
    model: Transformer, pairs: Sequence[Pair], *, max_tokens: int = 4096, shared: bool = False
) -> float:
    """Unsmoothed perplexity per target token, end symbols included, without dropout.

    Where it is `shared`, all processes call this, and each computes its share of the batches.

    Raises:
        ValueError: no pairs.
    """
    was_training = model.training
    model.eval()
    device = model.output_weight.device
    arrays = pairs if isinstance(pairs, PairArrays) else PairArrays(pairs)
    room = max(max_tokens, int(arrays.lengths.max(initial=0)) + 1)
    batches = token_batches(arrays, max_tokens=room, seed=0, shuffle=False)
    tokens, losses = 0.0, [0.0] * len(batches)
    numbers = range(len(batches))
    for number in distributed.share(numbers) if shared else numbers:
        batch = collate(arrays, batches[number]).to(device)
        states, weight = factors(model, model.states(batch.source, batch.target_in))
        weight = weight.detach()  # no gradient is wanted
        loss = smoothed_projection_loss(states, weight, batch.target_out, smoothing=0.0)
        losses[number] = float(loss)
        tokens += batch.n_target_tokens
    model.train(was_training)
    if shared:  # one by one, so that their sum has the digits of a single process's
        tokens, *losses = distributed.sum_over_processes(tokens, *losses, device=device)
    return math.exp(min(sum(losses) / tokens, 700.0))
