"""What chapter 20 measures: blocks, rates, optimisers, the missing encoder, BERT, images."""

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from phrasebook import Example
from transformer.config import TransformerConfig
from transformer.data.batching import Pair, collate, token_batches
from transformer.model import Transformer
from transformer.training.objective import TranslationLoss, perplexity
from walkthrough.ch20_what_came_after.blocks import stack
from walkthrough.ch20_what_came_after.scores import seen_scores
from walkthrough.ch20_what_came_after.stream import Stack, continuations, streams
from walkthrough.ch20_what_came_after.training import (
    Recipe,
    batches,
    stream_loss,
    train,
    train_stream,
)
from walkthrough.lab import translator

SHORT, LONG = (1, 8), (10, 14)
"""Words of a French sentence: those of training, and longer ones."""
SIZES = {"d_model": 64, "n_heads": 4, "n_layers": 2, "d_ff": 128, "dropout": 0.0}
TODAY = ("pre-norm", "RMSNorm", "RoPE", "SwiGLU", "no biases", "QK-norm", "2 groups")
BLOCKS: dict[str, tuple[str, ...]] = {
    "2017": (),
    "pre-norm": ("pre-norm",),
    "pre-norm, RMSNorm": ("pre-norm", "RMSNorm"),
    **{name: (name,) for name in ("RoPE", "SwiGLU", "2 groups", "1 group", "no biases")},
    "no biases, QK-norm": ("no biases", "QK-norm"),
    "today": TODAY,
}
NO_POSITIONS = "no positions"
LATER: dict[str, tuple[str, ...]] = {
    NO_POSITIONS: (NO_POSITIONS,),
    "no positions, QK-norm": (NO_POSITIONS, "no biases", "QK-norm"),
    "gate per head": ("gate per head",),
    "gate per number": ("gate per number",),
}
DECODERS: dict[str, tuple[str, int]] = {
    "decoder only": ("backwards", 5),
    "prefix": ("prefix", 5),
}
MARK = 50
"""Curves have a point every so many updates."""
N_DECODED = 300
"""Sentences of each kind that are translated, to count the exact ones."""


@dataclass(frozen=True)
class Corpus:
    """The phrasebook's short sentences to train and test on, and longer ones to test on."""

    task: translator.Task
    train: list[Pair]
    valid: list[Pair]
    test: list[Pair]
    longer: list[Pair]
    test_examples: list[Example]

    @property
    def vocab_size(self) -> int:
        """Number of words of both languages, with the special ones."""
        return len(self.task.codec)


def load_corpus() -> Corpus:
    """Return the corpus of chapter 14, by the length of the French sentence."""
    task = translator.load_task()
    examples = task.book.splits()["test_sentences"]
    return Corpus(
        task,
        _of_length(task.pairs("train"), SHORT),
        _of_length(task.pairs("valid"), SHORT),
        _of_length(task.pairs("test_sentences"), SHORT),
        _of_length(task.pairs("test_sentences"), LONG),
        [one for one in examples if SHORT[0] <= len(one.source) <= SHORT[1]],
    )


def _of_length(pairs: Sequence[Pair], lengths: tuple[int, int]) -> list[Pair]:
    return [pair for pair in pairs if lengths[0] <= len(pair[0]) <= lengths[1]]


def new_stack(
    corpus: Corpus,
    changes: Iterable[str],
    *,
    seed: int,
    sight: str = "backwards",
    **sizes: Any,
) -> Stack:
    """Return an untrained decoder-only model; the same seed gives the same start."""
    torch.manual_seed(seed)
    config = TransformerConfig(vocab_size=corpus.vocab_size, **{**SIZES, **sizes})
    return stack(config, changes, sight=sight)


# Measures ----------------------------------------------------------------------------------------


@torch.no_grad()
def loss_of(model: Stack, pairs: Sequence[Pair]) -> float:
    """Return the mean loss a target word, in nats."""
    return float(stream_loss(model, streams(pairs)))


def exact(model: Stack, pairs: Sequence[Pair]) -> float:
    """Return the share of sentences whose continuation is the reference."""
    written = continuations(model, [source for source, _ in pairs])
    right = [words == target for words, (_, target) in zip(written, pairs, strict=True)]
    return sum(right) / len(right)


@torch.no_grad()
def largest_score(model: Stack, tokens: Tensor) -> float:
    """Return the largest score of any query with any key that it may see, before softmax."""
    with seen_scores(model) as seen:
        model(tokens)
    return max(float(scores.max()) for scores in seen.values())


# Runs --------------------------------------------------------------------------------------------


def block_run(
    corpus: Corpus, changes: Sequence[str], recipe: Recipe, *, seed: int
) -> dict[str, Any]:
    """Train one decoder-only model; return how it does on short and on longer sentences."""
    model = new_stack(corpus, changes, seed=seed)
    some = streams(corpus.test[:100]).tokens
    scores: dict[int, float] = {}

    def watch(update: int) -> None:
        if update % MARK == 0:
            scores[update] = largest_score(model, some)

    began = time.process_time()
    train_stream(model, corpus.train, recipe, seed=seed, watch=watch)
    seconds = time.process_time() - began
    return {
        "parameters": model.n_parameters,
        "cpu_seconds": round(seconds, 1),
        "valid_loss": loss_of(model, corpus.valid),
        "loss": loss_of(model, corpus.test),
        "longer_loss": loss_of(model, corpus.longer),
        "largest_score": max(scores.values(), default=math.nan),
        "scores": list(scores.items()),
        "exact": exact(model, corpus.test[:N_DECODED]),
        "longer_exact": exact(model, corpus.longer[:N_DECODED]),
    }


def decoder_run(corpus: Corpus, kind: str, recipe: Recipe, *, seed: int) -> dict[str, Any]:
    """Train one kind of model on the same sentences; return its curve and what an update costs.

    Raises:
        KeyError: there is no such kind.
    """
    if kind == "encoder and decoder":
        torch.manual_seed(seed)
        whole = Transformer(TransformerConfig(vocab_size=corpus.vocab_size, **SIZES))  # type: ignore[arg-type]
        one = TranslationLoss(whole, smoothing=0.0)
        data = _pair_batches(corpus.train, recipe.max_tokens, seed)
        losses = (one(b.source, b.target_in, b.target_out) / b.n_target_tokens for b in data)
        return _curve(
            whole,
            losses,
            recipe,
            lambda: math.log(perplexity(whole, corpus.valid)),
            lambda: math.log(perplexity(whole, corpus.test)),
            lambda: translator.exact_match(whole, corpus.task, corpus.test_examples[:N_DECODED]),
        )
    sight, n_layers = DECODERS[kind]
    model = new_stack(corpus, (), seed=seed, sight=sight, n_layers=n_layers)
    rows = batches(corpus.train, max_tokens=recipe.max_tokens, seed=seed)
    return _curve(
        model,
        (stream_loss(model, batch) for batch in rows),
        recipe,
        lambda: loss_of(model, corpus.valid),
        lambda: loss_of(model, corpus.test),
        lambda: exact(model, corpus.test[:N_DECODED]),
    )


def _pair_batches(pairs: Sequence[Pair], max_tokens: int, seed: int) -> Iterator[Any]:
    epoch = 0
    while True:
        for indices in token_batches(pairs, max_tokens=max_tokens, seed=seed, epoch=epoch):
            yield collate(pairs, indices)
        epoch += 1


def _curve(
    model: nn.Module,
    losses: Iterator[Tensor],
    recipe: Recipe,
    valid_loss: Callable[[], float],
    test_loss: Callable[[], float],
    test_exact: Callable[[], float],
) -> dict[str, Any]:
    n_counted = 5
    with FlopCounterMode(display=False) as counter:  # of five batches; training goes on behind them
        for _, loss in zip(range(n_counted), losses, strict=False):
            loss.backward()
    model.zero_grad()
    curve, measuring = [], 0.0

    def watch(update: int) -> None:
        nonlocal measuring
        if update % MARK == 0:
            start = time.process_time()
            model.eval()
            curve.append([update, test_loss()])
            model.train()
            measuring += time.process_time() - start

    began = time.process_time()
    train(model, losses, recipe, watch)
    return {
        "parameters": sum(p.numel() for p in model.parameters()),
        "cpu_seconds": round(time.process_time() - began - measuring, 1),
        "megaflops": counter.get_total_flops() / n_counted / 1e6,
        "curve": curve,
        "valid_loss": valid_loss(),
        "loss": test_loss(),
        "exact": test_exact(),
    }
