"""Dropout and label smoothing, value by value: small translators (§5.4, Table 3 D).

Two encoder and two decoder layers with d_model = 64, trained on few sentence pairs, so that there
is something to regularise. `tools/run_dropout.py` and `tools/run_smoothing.py` train them with
several seeds.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from transformer.analysis.bleu import score as bleu_score
from transformer.attention import MultiHeadAttention
from transformer.cli.corpora import exact_matches
from transformer.config import PAD_ID
from transformer.data.batching import Pair, collate
from transformer.layers import ResidualNorm
from transformer.model import Transformer
from transformer.training import train
from transformer.training.history import Record
from transformer.training.loss import cross_entropy
from walkthrough.lab import translator

SIZES = {"d_model": 64, "d_ff": 128}
N_PAIRS = 2000
UPDATES = 300
N_TESTED = 500
PROBABILITIES = (0.0, 0.1, 0.3)
N_FEW, LONG, EVERY = 1000, 1000, 50
"""For the curves of dropout: sentence pairs, updates, and updates between two points."""
EMBEDDING, SUBLAYERS, ATTENTION = "embedding + encoding", "sub-layer outputs", "attention weights"
PAPER = (EMBEDDING, SUBLAYERS)
"""The two places of §5.4. The third is common elsewhere and not in the paper."""

RUNS: tuple[tuple[float, tuple[str, ...]], ...] = (
    (0.0, PAPER),
    (0.1, PAPER),
    (0.2, PAPER),
    (0.1, (SUBLAYERS,)),
    (0.1, (EMBEDDING,)),
    (0.1, ()),
)
"""What is trained: a smoothing, and the places where dropout acts."""


@dataclass(frozen=True)
class Scores:
    """What one model scores on sentences that it did not see."""

    perplexity: float
    next_word: float
    confidence: float
    temperature: float
    tempered_perplexity: float
    bleu: float
    exact: float
    train_perplexity: float


def dropout_places(model: Transformer) -> dict[str, list[nn.Module]]:
    """Return the modules that drop out, by the place where they do it (§5.4)."""
    modules = list(model.modules())
    return {
        EMBEDDING: [model.dropout],
        SUBLAYERS: [m.dropout for m in modules if isinstance(m, ResidualNorm)],
        ATTENTION: [m for m in modules if isinstance(m, MultiHeadAttention)],
    }


def set_dropout(model: Transformer, places: Sequence[str], p: float = 0.1) -> None:
    """Let dropout act at these places with probability `p`, and nowhere else.

    Raises:
        ValueError: there is no such place, or p is not in [0, 1).
    """
    known = dropout_places(model)
    unknown = sorted(set(places) - set(known))
    if unknown:
        raise ValueError(f"places must be among {', '.join(known)}; got {', '.join(unknown)}")
    if not 0 <= p < 1:
        raise ValueError(f"p must lie in [0, 1), got {p}")
    for place, modules in known.items():
        strength = p if place in places else 0.0
        for module in modules:
            if isinstance(module, nn.Dropout):
                module.p = strength
            elif isinstance(module, MultiHeadAttention):
                module.dropout = strength


@dataclass(frozen=True)
class Point:
    """A place on the way: perplexity of sentences seen and unseen, and next words found."""

    update: int
    seen: float
    unseen: float
    next_word: float


def load_task(**sizes: int) -> translator.Task:
    """Return the phrasebook with this experiment's recipe; see `translator.load_task`."""
    recipe = (
        "training.max_tokens=600",
        "training.accumulate=1",
        "training.warmup=100",
        "training.peak=5e-3",
    )
    return translator.load_task(recipe, **sizes)


def train_small(
    task: translator.Task,
    *,
    seed: int,
    smoothing: float = 0.1,
    places: Sequence[str] = PAPER,
    updates: int = UPDATES,
) -> Transformer:
    """Train one small translator on the first `N_PAIRS` pairs.

    Raises:
        ValueError: a smoothing outside [0, 1), an unknown place, or too few updates.
    """
    model = translator.new_model(task, seed=seed, **SIZES)
    set_dropout(model, places)
    settings = task.plan.training.replace(
        seed=seed, threads=1, smoothing=smoothing, max_updates=updates
    )
    train(model, task.pairs("train")[:N_PAIRS], settings, progress=False)
    return model


def load_long_task(**sizes: int) -> translator.Task:
    """Return the phrasebook with a rate that stays where it is, so that any update may be the last.

    It is not smoothed: perplexity then says what it says.
    """
    recipe = (
        "training.max_tokens=600",
        "training.accumulate=1",
        "training.warmup=100",
        "training.peak=2e-3",
        "training.schedule=constant",
        "training.smoothing=0.0",
    )
    return translator.load_task(recipe, **sizes)


def train_long(
    task: translator.Task, *, seed: int, p: float, updates: int = LONG, every: int = EVERY
) -> tuple[Transformer, list[Point]]:
    """Train one small translator on the first `N_FEW` pairs, many times over, and measure it.

    Raises:
        ValueError: p is not in [0, 1), or too few updates.
    """
    model = translator.new_model(task, seed=seed, **SIZES)
    set_dropout(model, PAPER, p)
    pairs, valid = task.pairs("train")[:N_FEW], task.pairs("valid")
    settings = task.plan.training.replace(
        seed=seed, threads=1, max_updates=updates, log_every=every
    )
    points = []

    def measure(record: Record) -> None:
        logits, gold = gold_logits(model, valid)
        point = Point(
            update=record.update,
            seen=_perplexity(*gold_logits(model, pairs[:N_TESTED])),
            unseen=_perplexity(logits, gold),
            next_word=_first_choices(logits, gold),
        )
        points.append(point)

    train(model, pairs, settings, progress=False, callbacks=[measure])
    return model, points


def evaluate(model: Transformer, task: translator.Task, *, n_tested: int = N_TESTED) -> Scores:
    """Measure one model. Perplexity is unsmoothed, of validation pairs; so is next-word accuracy.

    `temperature` is the divisor of the logits that gives the lowest perplexity,
    `tempered_perplexity`. BLEU and exact matches are of greedy translations of unseen sentences.
    """
    logits, gold = gold_logits(model, task.pairs("valid"))
    perplexities = {t: _perplexity(logits / t, gold) for t in _TEMPERATURES}
    best = min(perplexities, key=lambda t: perplexities[t])
    examples = task.book.splits()["test_sentences"][:n_tested]
    outputs = translator.translations(model, task, examples)
    references = [example.target_text for example in examples]
    return Scores(
        perplexity=_perplexity(logits, gold),
        next_word=_first_choices(logits, gold),
        confidence=float(logits.softmax(dim=-1).amax(dim=-1).mean()),
        temperature=best,
        tempered_perplexity=perplexities[best],
        bleu=bleu_score(outputs, references).bleu,
        exact=exact_matches(outputs, references),
        train_perplexity=_perplexity(*gold_logits(model, task.pairs("train")[:n_tested])),
    )


_TEMPERATURES = [round(0.40 + 0.05 * n, 2) for n in range(33)]  # 0.4 to 2.0


@torch.no_grad()
def gold_logits(
    model: Transformer, pairs: Sequence[Pair], *, training: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the logits and the gold ids of all target tokens, padding left out.

    With `training`, dropout stays on.
    """
    was_training = model.training
    model.train(training)
    logits, gold = [], []
    for start in range(0, len(pairs), 250):
        batch = collate(pairs[start : start + 250])
        is_token = batch.target_out != PAD_ID
        logits.append(model(batch.source, batch.target_in)[is_token])
        gold.append(batch.target_out[is_token])
    model.train(was_training)
    return torch.cat(logits), torch.cat(gold)


def _first_choices(logits: torch.Tensor, gold: torch.Tensor) -> float:
    return float((logits.argmax(dim=-1) == gold).float().mean())


def _perplexity(logits: torch.Tensor, gold: torch.Tensor) -> float:
    return math.exp(float(cross_entropy(logits, gold)))


def name_of(places: Sequence[str]) -> str:
    """Return the places of a run in words."""
    return ", ".join(places) if places else "nowhere"


def runs_where(
    record: dict[str, Any], *, smoothing: float, places: Sequence[str] = PAPER
) -> list[dict[str, Any]]:
    """Return the runs of a record with this smoothing and these places, one for each seed.

    Raises:
        ValueError: there are none.
    """
    found = [
        run
        for run in record["runs"]
        if run["smoothing"] == smoothing and set(run["places"]) == set(places)
    ]
    if not found:
        raise ValueError(f"no run with smoothing {smoothing} and dropout at {name_of(places)}")
    return found
