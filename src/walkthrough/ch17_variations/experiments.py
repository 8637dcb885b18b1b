"""Table 3 in small: every row trained on the phrasebook, paired by seed (§6.2).

A run of a row and the base run of the same seed see the same batches in the same order, and every
matrix that has one shape in both starts from the same numbers.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from typing import Any

import torch

from transformer.analysis.bleu import score
from transformer.cli.corpora import exact_matches
from transformer.model import Transformer
from transformer.training import perplexity
from transformer.training.trainer import Trainer
from walkthrough.ch17_variations.rows import ROWS, Row, in_small
from walkthrough.lab import translator

WIDTH, DEPTH = 8, 2
"""Widths are an eighth of the paper's, stacks half as high: d_model 64, N 3."""
MAX_LEN = 128
"""Positions to learn: the longest source and the 50 tokens that decoding may add fit."""
UPDATES = 600
EVERY = 150
PEAK = 3e-3
N_TRANSLATED = 300
SEEDS = (1, 2, 3, 4, 5)
SPLITS = ("test_sentences", "test_combinations")
_RECIPE = ("training.max_tokens=320", "training.warmup=100", f"training.max_updates={UPDATES}")
_LAST_OF_BRANCH = ("output_proj.weight", "contract.weight")


def load_task(**sizes: int) -> translator.Task:
    """Return the phrasebook with a short recipe: 600 updates of 320 target tokens."""
    return translator.load_task(_RECIPE, **sizes)


def new_model(task: translator.Task, row: Row, *, seed: int) -> Transformer:
    """Return an untrained model of a row that starts, where shapes agree, where base starts."""
    base, model = (_fresh(task, one, seed) for one in (ROWS["base"], row))
    # the last matrix of a branch starts smaller in a deeper stack (chapter 08)
    branch = sqrt(base.config.n_layers / model.config.n_layers)
    start = dict(base.named_parameters())
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name in start and start[name].shape == parameter.shape:
                scale = branch if name.endswith(_LAST_OF_BRANCH) else 1.0
                parameter.copy_(scale * start[name])
    return model


def _fresh(task: translator.Task, row: Row, seed: int) -> Transformer:
    config = in_small(row, width=WIDTH, depth=DEPTH, max_len=MAX_LEN)
    torch.manual_seed(seed)
    return Transformer(config.replace(vocab_size=len(task.codec)))


def trainer(task: translator.Task, row: Row, *, seed: int, updates: int = UPDATES) -> Trainer:
    """Return a run that has not begun. As in Equation 3, the rate falls with √d_model."""
    model = new_model(task, row, seed=seed)
    peak = PEAK * sqrt(new_width("base") / model.config.d_model)
    settings = task.plan.training.replace(
        seed=seed, threads=1, max_updates=updates, smoothing=row.smoothing, peak=peak
    )
    return Trainer(model, task.pairs("train"), settings)


def new_width(name: str) -> int:
    """Return d_model of a row in small."""
    return ROWS[name].config.d_model // WIDTH


def first_updates(run: Trainer, updates: int) -> Transformer:
    """Make the first updates of a run, with the rates that the whole run has there."""
    for group in run.groups(0)[:updates]:
        run.step(group)
    return run.model.eval()


@dataclass(frozen=True)
class Scores:
    """What a trained model scores on one split: perplexity unsmoothed, greedy translations."""

    perplexity: float
    bleu: float
    exact: float


def evaluate(model: Transformer, task: translator.Task, split: str) -> Scores:
    """Measure one model on one split; the first sentences of it are translated."""
    examples = task.book.splits()[split][:N_TRANSLATED]
    outputs = translator.translations(model, task, examples)
    references = [example.target_text for example in examples]
    return Scores(
        perplexity=perplexity(model, task.pairs(split)),
        bleu=score(outputs, references).bleu,
        exact=exact_matches(outputs, references),
    )


def train_row(
    task: translator.Task,
    row: Row,
    *,
    seed: int,
    updates: int = UPDATES,
    every: int = EVERY,
    measured: Callable[[int, float], object] = lambda update, perplexity: None,
) -> Transformer:
    """Train one model; `measured` gets its perplexity on validation pairs every so many updates."""
    run = trainer(task, row, seed=seed, updates=updates)
    valid = task.pairs("valid")
    done = 0
    torch.set_num_threads(1)
    while done < updates:
        for group in run.groups(run.position.epoch):
            run.step(group)
            done += 1
            if done % every == 0:
                measured(done, perplexity(run.model, valid))
            if done == updates:
                break
        run.position.epoch += 1
    return run.model.eval()


def settings_of_row(row: Row) -> dict[str, Any]:
    """Return what a row changes in small, by name, as the record keeps it."""
    config = in_small(row, width=WIDTH, depth=DEPTH, max_len=MAX_LEN)
    sizes = {name: getattr(config, name) for name in ("d_model", "d_ff", "n_heads", "n_layers")}
    more = {name: getattr(config, name) for name in ("d_k", "d_v", "dropout", "positions")}
    return {**sizes, **more, "smoothing": row.smoothing}
