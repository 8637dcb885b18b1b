"""The training loop of the paper (§5) in some thirty lines, with nothing around it.

`transformer.training.train` makes the same updates, and logs, validates, saves and resumes besides.
"""

from collections.abc import Iterator, Sequence
from itertools import count

import torch

from transformer.data.batching import Batch, Pair, collate, token_batches
from transformer.model import Transformer
from transformer.training import TrainSettings, smoothed_projection_loss
from transformer.training.process import seed_from


def updates(pairs: Sequence[Pair], settings: TrainSettings) -> Iterator[list[Batch]]:
    """Yield the batches of one update after the other, epoch after epoch, without end (§5.1).

    Raises:
        ValueError: an epoch has fewer batches than one update takes.
    """
    size = settings.accumulate
    for epoch in count():
        batches = token_batches(
            pairs, max_tokens=settings.max_tokens, seed=settings.seed, epoch=epoch
        )
        if len(batches) < size:
            raise ValueError(f"an update takes {size} batches, an epoch has {len(batches)}")
        for start in range(0, len(batches) - size + 1, size):
            yield [collate(pairs, indices) for indices in batches[start : start + size]]


def training(
    model: Transformer, pairs: Sequence[Pair], settings: TrainSettings
) -> Iterator[tuple[int, float]]:
    """Train the model in place; after each update, yield its number and mean loss (§5.3, §5.4)."""
    optimizer = torch.optim.Adam(
        model.parameters(), lr=0.0, betas=(0.9, 0.98), eps=1e-9, fused=True
    )
    for update, batches in zip(
        range(1, settings.max_updates + 1), updates(pairs, settings), strict=False
    ):
        seed_from(settings.seed, update, 0)
        model.train()
        n_tokens = sum(batch.n_target_tokens for batch in batches)
        mean_loss = 0.0
        for batch in batches:
            states = model.states(batch.source, batch.target_in)
            loss = smoothed_projection_loss(
                states, model.output_weight, batch.target_out, smoothing=settings.smoothing
            )
            (loss / n_tokens).backward()
            mean_loss += loss.item() / n_tokens
        for group in optimizer.param_groups:
            group["lr"] = settings.rate(update, d_model=model.config.d_model)
        optimizer.step()
        optimizer.zero_grad()
        yield update, mean_loss
    model.eval()
