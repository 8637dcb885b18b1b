"""What chapter 15 counts on the searches of the half-trained translator (§6.1)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter

import torch
from torch import Tensor, nn

from transformer.config import BOS_ID, EOS_ID, PAD_ID
from transformer.data.batching import Pair, collate
from transformer.data.codec import PhrasebookCodec
from transformer.inference.cache import DecoderCache
from transformer.model import Transformer

STOP = "</s>"
Prefix = tuple[str, ...]
TIE = 1e-4
"""Log probabilities closer than this count as equal: they come from two ways to compute them."""


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
    found: dict[int, float] = {}
    full = [index for index, (_, target) in enumerate(pairs) if target]
    empty = [index for index, (_, target) in enumerate(pairs) if not target]
    if full:
        batch = collate([pairs[index] for index in full])
        logs = model(batch.source, batch.target_in).log_softmax(-1)
        each = logs.gather(-1, batch.target_out[..., None])[..., 0]
        totals = (each * (batch.target_out != PAD_ID)).sum(-1)
        found |= dict(zip(full, totals.tolist(), strict=True))
    for index in empty:
        logs = model(source_batch([pairs[index][0]]), torch.tensor([[BOS_ID]])).log_softmax(-1)
        found[index] = float(logs[0, 0, EOS_ID])
    return [found[index] for index in range(len(pairs))]


@dataclass(frozen=True)
class Work:
    """How many vectors went through the linear maps of each part of the decoder."""

    vectors: Mapping[str, int]
    seconds: float


PARTS = {
    "self_attention.key_proj": "own keys and values",
    "self_attention.value_proj": "own keys and values",
    "cross_attention.key_proj": "keys and values of the source",
    "cross_attention.value_proj": "keys and values of the source",
    "feed_forward.expand": "feed-forward",
}


@contextmanager
def counted(model: Transformer) -> Iterator[dict[str, int]]:
    """Count, while the block runs, the vectors that go through maps of the decoder's layers."""
    counts = dict.fromkeys(PARTS.values(), 0)
    hooks = []

    def counter(part: str) -> Callable[..., None]:
        def count(_module: nn.Module, inputs: tuple[Tensor, ...], _output: Tensor) -> None:
            counts[part] += inputs[0].shape[:-1].numel()

        return count

    for name, module in model.decoder.named_modules():
        for ending, part in PARTS.items():
            if name.endswith(ending):
                hooks.append(module.register_forward_hook(counter(part)))
    try:
        yield counts
    finally:
        for hook in hooks:
            hook.remove()


@torch.no_grad()
def decode_work(model: Transformer, source: Tensor, length: int, *, cached: bool) -> Work:
    """Decode `length` tokens greedily, never stopping early, and count and time the decoder.

    Without a cache every step decodes all words so far.
    """
    model.eval()
    memory = model.encode(source)
    cache = DecoderCache(model.config.n_layers) if cached else None
    tokens = torch.full((len(source), 1), BOS_ID)
    with counted(model) as counts:
        began = perf_counter()
        for _ in range(length):
            given = tokens[:, -1:] if cached else tokens
            states = model.decode(given, memory, source, cache=cache)
            logits = model.project(states[:, -1])
            logits[:, [PAD_ID, BOS_ID, EOS_ID]] = float("-inf")
            tokens = torch.cat([tokens, logits.argmax(-1, keepdim=True)], dim=1)
        seconds = perf_counter() - began
    return Work(counts, seconds)


class NeverReordered(DecoderCache):
    """The mistake: hypotheses change places in the beam, their keys and values do not."""

    def select(self, rows: Tensor, *, sources: Tensor | None) -> None:
        """Forget to reorder; drop the rows of sentences that are finished."""
        if sources is not None:
            beam = len(rows) // max(len(sources), 1)
            rows = (sources[:, None] * beam + torch.arange(beam)).flatten()  # in their old order
            super().select(rows, sources=sources)
