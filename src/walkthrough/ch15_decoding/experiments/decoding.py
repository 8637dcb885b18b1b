"""A model that fits on the page, and what chapter 15 asks of the half-trained translator (§6.1)."""

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor, nn

from phrasebook.codec import PhrasebookCodec
from transformer.cache import DecoderCache
from transformer.config import BOS_ID, EOS_ID, PAD_ID
from transformer.data.batching import Pair, collate
from transformer.model import Transformer

STOP = "</s>"
Prefix = tuple[str, ...]
TOY: Mapping[Prefix, Mapping[str, float]] = {
    (): {"she": 0.5, "Jane": 0.4, STOP: 0.1},
    ("she",): {"visits": 0.4, "visited": 0.34, "sees": 0.26},
    ("Jane",): {"visits": 0.85, "sees": 0.15},
    ("she", "visits"): {"Africa": 0.7, "it": 0.3},
    ("she", "visited"): {"Africa": 0.6, "it": 0.4},
    ("Jane", "visits"): {"Africa": 0.8, "it": 0.2},
}
TIE = 1e-4
"""Log probabilities closer than this count as equal: they come from two ways to compute them."""


def toy(words: Prefix) -> Mapping[str, float]:
    """Return the words that may come next, with their probabilities; elsewhere it always ends."""
    return TOY.get(words, {STOP: 1.0})


def source_batch(sources: Sequence[Sequence[int]]) -> Tensor:
    """Return sentences of ids as one batch, each with its end token, padded."""
    rows = [torch.tensor([*ids, EOS_ID]) for ids in sources]
    return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD_ID)


def next_words_of(
    model: Transformer, codec: PhrasebookCodec, source: Sequence[int]
) -> Callable[[Prefix], Mapping[str, float]]:
    """Return the model as a function: from the words so far to the probability of each next one.

    Padding and the start token are left out: they cannot be said.
    """
    batch = source_batch([source])
    with torch.no_grad():
        memory = model.eval().encode(batch)
    words = codec.vocabulary.tokens
    known: dict[Prefix, Mapping[str, float]] = {}

    def next_words(prefix: Prefix) -> Mapping[str, float]:
        if prefix not in known:
            ids = [BOS_ID, *(codec.vocabulary.encode(list(prefix)) if prefix else [])]
            with torch.no_grad():
                states = model.decode(torch.tensor([ids]), memory, batch)
                shares = model.project(states[:, -1])[0].softmax(-1).tolist()
            known[prefix] = {
                word: share
                for index, (word, share) in enumerate(zip(words, shares, strict=True))
                if index not in (PAD_ID, BOS_ID)
            }
        return known[prefix]

    return next_words


@torch.no_grad()
def log_probs(model: Transformer, pairs: Sequence[Pair]) -> list[float]:
    """Return log P(target, end token | source) of each pair, from one pass for all.

    An empty target is allowed: the end token alone.
    """
    model.eval()
    totals_of: dict[int, float] = {}
    full = [index for index, (_, target) in enumerate(pairs) if target]
    empty = [index for index, (_, target) in enumerate(pairs) if not target]
    if full:
        batch = collate([pairs[index] for index in full])
        logs = model(batch.source, batch.target_in).log_softmax(-1)
        each = logs.gather(-1, batch.target_out[..., None])[..., 0]
        totals = (each * (batch.target_out != PAD_ID)).sum(-1)
        totals_of |= dict(zip(full, totals.tolist(), strict=True))
    for index in empty:
        logs = model(source_batch([pairs[index][0]]), torch.tensor([[BOS_ID]])).log_softmax(-1)
        totals_of[index] = float(logs[0, 0, EOS_ID])
    return [totals_of[index] for index in range(len(pairs))]


class NeverReordered(DecoderCache):
    """The mistake: hypotheses change places in the beam, their keys and values do not."""

    def select(self, rows: Tensor, *, sources: Tensor | None) -> None:
        """Forget to reorder; drop the rows of sentences that are finished."""
        if self.length == 1:  # one hypothesis becomes a beam: there is no order yet
            super().select(rows, sources=sources)
        elif sources is not None:
            beam = len(rows) // max(len(sources), 1)
            rows = (sources[:, None] * beam + torch.arange(beam)).flatten()  # in their old order
            super().select(rows, sources=sources)
