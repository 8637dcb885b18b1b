"""Slow and plain decoders, and wrong ones, to hold ours against."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from itertools import product

import torch
from torch import Tensor

from transformer.cache import DecoderCache
from transformer.config import BOS_ID, EOS_ID, PAD_ID, TransformerConfig
from transformer.model import Transformer
from transformer.training.settings import TrainSettings
from transformer.training.trainer import train


def make_model(
    seed: int = 0, *, vocab_size: int = 12, sharp: float = 3.0, **changes
) -> Transformer:
    """A random model whose output is not the same everywhere; `sharp` widens its logits."""
    torch.manual_seed(seed)
    config = TransformerConfig.tiny(vocab_size=vocab_size).replace(d_model=16, d_ff=24, **changes)
    model = Transformer(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(sharp)
    return model


@lru_cache
def trained_model() -> Transformer:
    """A model that has half learned to write letters backwards: outputs of many lengths."""
    draw = random.Random(0)
    sources = [[draw.randint(3, 11) for _ in range(draw.randint(1, 6))] for _ in range(1500)]
    torch.manual_seed(0)
    config = TransformerConfig.tiny(vocab_size=12).replace(
        d_model=32, d_ff=48, n_layers=1, dropout=0.0
    )
    settings = TrainSettings(
        max_updates=150, max_tokens=300, schedule="constant", warmup=20, peak=1e-2
    )
    model = Transformer(config)
    train(model, [(ids, ids[::-1]) for ids in sources], settings, progress=False)
    return model


def make_source(seed: int = 0, *, rows: int = 6, vocab_size: int = 12) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    source = torch.full((rows, 7), PAD_ID)
    for row in range(rows):
        length = 1 + row % 6
        words = torch.randint(3, vocab_size, (length,), generator=generator)
        source[row, :length], source[row, length] = words, EOS_ID
    return source


@torch.no_grad()
def next_log_probs(model: Transformer, source: Tensor, prefix: list[int]) -> Tensor:
    """Log probabilities of the token after the prefix, for one sentence, without a cache."""
    logits = model(source, torch.tensor([[BOS_ID, *prefix]]))
    return logits[0, -1].log_softmax(-1)


def plain_greedy(model: Transformer, source: Tensor, limit: int) -> list[int]:
    """One sentence, everything computed anew for every token."""
    output: list[int] = []
    while len(output) < limit - 1:
        scores = next_log_probs(model, source, output)
        scores[[PAD_ID, BOS_ID]] = float("-inf")
        token = int(scores.argmax())
        if token == EOS_ID:
            break
        output.append(token)
    return output


def log_prob(model: Transformer, source: Tensor, tokens: list[int]) -> float:
    """log P(tokens, end | source), from one forward pass."""
    return float(log_probs_of(model, source, torch.tensor([tokens], dtype=torch.long))[0])


@torch.no_grad()
def log_probs_of(model: Transformer, source: Tensor, outputs: Tensor) -> Tensor:
    """The same for outputs of one length, all of the same source."""
    edge = torch.ones(len(outputs), 1, dtype=torch.long)
    target_in = torch.cat([BOS_ID * edge, outputs], dim=1)
    target_out = torch.cat([outputs, EOS_ID * edge], dim=1)
    log_probs = model(source.expand(len(outputs), -1), target_in).log_softmax(-1)
    return log_probs.gather(-1, target_out[..., None]).sum(dim=(-1, -2))


def exhaustive(model: Transformer, source: Tensor, limit: int, alpha: float | None) -> list[tuple]:
    """(score, tokens) of every possible output of at most `limit` tokens, best first."""
    words = [t for t in range(model.config.vocab_size) if t not in (PAD_ID, BOS_ID, EOS_ID)]
    found = []
    for length in range(limit):
        outputs = torch.tensor(list(product(words, repeat=length)), dtype=torch.long)
        penalty = length + 1 if alpha is None else ((5 + length + 1) / 6) ** alpha
        scores = log_probs_of(model, source, outputs) / penalty
        found += zip(scores.tolist(), outputs.tolist(), strict=True)
    return sorted(found, reverse=True)


@torch.no_grad()
def plain_beam(
    model: Transformer,
    source: Tensor,
    *,
    beam: int,
    alpha: float,
    n_best: int,
    limit: int,
    early_stopping: bool,
) -> tuple[list[tuple[float, list[int]]], int]:
    """(score, tokens) of the n best for one sentence, and the steps taken: lists and no cache."""
    alive: list[tuple[float, list[int]]] = [(0.0, [])]
    finished: list[tuple[float, list[int]]] = []
    length = 0
    while alive:
        length += 1
        prefixes = torch.tensor([[BOS_ID, *prefix] for _, prefix in alive])
        rows = model(source.expand(len(alive), -1), prefixes)[:, -1].log_softmax(-1).tolist()
        longer = [
            (before + value, prefix, token)
            for (before, prefix), row in zip(alive, rows, strict=True)
            for token, value in enumerate(row)
            if token not in (PAD_ID, BOS_ID) and (token == EOS_ID or length < limit)
        ]
        longer.sort(key=lambda found: -found[0])
        ended = [found for found in longer[:beam] if found[2] == EOS_ID]
        finished += [(value / ((5 + length) / 6) ** alpha, prefix) for value, prefix, _ in ended]
        finished.sort(reverse=True)
        alive = [(value, [*p, token]) for value, p, token in longer if token != EOS_ID][:beam]
        if early_stopping and len(finished) >= beam:
            break
        if alive and len(finished) >= n_best:
            reachable = alive[0][0] / ((5 + limit) / 6) ** alpha
            if finished[n_best - 1][0] >= reachable:
                break
    return finished[:n_best], length


@contextmanager
def counted_steps(model: Transformer) -> Iterator[list[int]]:
    """Inside, every call of the decoder adds its number of rows to the list."""
    rows: list[int] = []
    original = model.decode

    def decode(target: Tensor, *arguments, **options) -> Tensor:
        rows.append(len(target))
        return original(target, *arguments, **options)

    model.decode = decode  # type: ignore[method-assign]
    try:
        yield rows
    finally:
        del model.decode


def strip(source: Tensor) -> Tensor:
    """One row without its padding, as a batch of one."""
    return source[source != PAD_ID][None]


class EveryStepAtPositionZero(DecoderCache):
    """The mistake: each new token is embedded as if it were the first."""

    @property
    def length(self) -> int:
        return 0


class NeverReordered(DecoderCache):
    """The mistake: beams change places, their keys and values do not."""

    def select(self, rows: Tensor, *, sources: Tensor | None) -> None:
        if self.length == 1:  # one hypothesis becomes a beam: there is no order yet
            super().select(rows, sources=sources)
        elif sources is not None:  # finished sentences leave, the others keep their order
            beam = len(rows) // max(len(sources), 1)
            rows = (sources[:, None] * beam + torch.arange(beam)).flatten()
            super().select(rows, sources=sources)


class SelfAttentionOnly(DecoderCache):
    """The mistake: finished sentences leave, and the others get each other's sources."""

    def select(self, rows: Tensor, *, sources: Tensor | None) -> None:
        for layer in self.layers:
            layer.self_attention.select(rows)
            if sources is not None:
                layer.cross_attention.select(torch.arange(len(sources)))
