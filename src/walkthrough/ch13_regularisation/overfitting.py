"""A translator that learns fifty sentence pairs by heart, for chapter 13 (§5.4)."""

import math
from collections.abc import Sequence

from transformer.data.batching import Pair
from transformer.model import Transformer
from transformer.training import train
from transformer.training.history import Record
from transformer.training.loss import cross_entropy
from walkthrough.ch13_regularisation.experiments import DROPOUT, gold_logits
from walkthrough.lab import translator

N_PAIRS, N_NEW, EVERY = 50, 100, 20


def overfitted(n_updates: int = 180, *, small: bool = False) -> dict[str, list[tuple[int, float]]]:
    """Train on few pairs, without dropout; return perplexities of them and of new ones (§5.4).

    Each is a list of (update, perplexity), under the name that a legend shows.
    """
    task = DROPOUT.task.load(small=small)
    model = translator.new_model(task, seed=1, dropout=0.0)
    shown = {
        "the 50 pairs it learns from": task.pairs("train")[:N_PAIRS],
        "100 new pairs": task.pairs("valid")[:N_NEW],
    }
    curves: dict[str, list[tuple[int, float]]] = {name: [] for name in shown}

    def measure(record: Record) -> None:
        for name, pairs in shown.items():
            curves[name].append((record.update, _perplexity(model, pairs)))

    seen = next(iter(shown.values()))
    settings = task.plan.training.replace(max_updates=n_updates, log_every=EVERY)
    train(model, seen, settings, progress=False, callbacks=[measure])
    return curves


def _perplexity(model: Transformer, pairs: Sequence[Pair]) -> float:
    logits, gold = gold_logits(model, pairs)
    return math.exp(float(cross_entropy(logits, gold)))
