"""The translator of chapter 14: trained on the phrasebook, whole or with one thing broken (§5).

The sizes and the recipe are those of the preset "phrasebook" (`transformer.cli.plan`), the one that
`python -m transformer train --preset phrasebook` uses.
"""

import signal
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any, Literal

import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor

from transformer.analysis.alignment import (
    AlignmentScore,
    alignment_by_head,
    diagonal_alignment,
    score_alignments,
)
from transformer.cli.corpora import exact_matches
from transformer.cli.plan import Plan, make_plan
from transformer.config import PAD_ID
from transformer.data.batching import Pair, collate
from transformer.data.codec import PhrasebookCodec
from transformer.data.phrasebook import Example, Phrasebook, phrasebook
from transformer.inference.translate import Decoding, translate
from transformer.model import Transformer
from transformer.training import History, TrainSettings, train
from transformer.training.checkpoint import load_weights, unique_weights

PRESET = "phrasebook"
PAGE = {"max_updates": 500, "max_tokens": 320, "accumulate": 2, "warmup": 80}
"""Changes to the preset for the run of the page: less than a third of its target tokens."""
SHORT = 260
"""Updates of the models that the page breaks."""
N_ALIGNED = 200
"""Sentences of a split over which alignment errors are counted."""

Row = Literal["predicts", "reads"]
KINDS = ("adjective", "object", "place", "negation")


@dataclass(frozen=True)
class Task:
    """The corpus, the words as ids, and the settings of the preset."""

    book: Phrasebook
    codec: PhrasebookCodec
    plan: Plan

    def pairs(self, split: str) -> list[Pair]:
        """Return the ids of a split's sentence pairs."""
        return encoded(self.book.splits()[split], self.codec)


def load_task(changes: Sequence[str] = (), **sizes: int) -> Task:
    """Return the task of the preset; `sizes` (train, valid, test) make a smaller corpus.

    `changes` to the preset are options of the command line, such as "training.schedule=noam".
    """
    plan = make_plan(PRESET, None, changes)
    book = phrasebook(plan.data.corpus_seed, **sizes)
    return Task(book, PhrasebookCodec(book.vocabulary()), plan)


def encoded(examples: Sequence[Example], codec: PhrasebookCodec) -> list[Pair]:
    """Return source ids and target ids of each example."""
    words = codec.vocabulary
    return [(words.encode(example.source), words.encode(example.target)) for example in examples]


def new_model(task: Task, *, seed: int, **changes: Any) -> Transformer:
    """Return an untrained model of the preset; `changes` are made to its configuration."""
    torch.manual_seed(seed)
    return Transformer(task.plan.config(len(task.codec)).replace(**changes))


def train_model(
    task: Task,
    *,
    seed: int,
    updates: int | None = None,
    threads: int | None = None,
    **changes: Any,
) -> tuple[Transformer, History]:
    """Train a model with the preset's recipe; `updates` makes the run, and its schedule, shorter.

    `changes` are made to the configuration, such as `causal=False` to break one thing. Data, order
    and schedule stay the same.

    Raises:
        TypeError: the configuration has no such field.
        ValueError: it does not allow that value.
    """
    model = new_model(task, seed=seed, **changes)
    settings = task.plan.training.replace(seed=seed, threads=threads)
    if updates is not None:
        settings = settings.replace(max_updates=updates)
    return model, train(model, task.pairs("train"), settings, progress=False)


class BackgroundRuns:
    """Models that train in a second process, one after the other, with one thread.

    Two cores then serve two runs, one here and one there, and a single core serves both in turn.
    The process ends with its last run.
    """

    def __init__(
        self, variants: Mapping[str, Transformer], pairs: Sequence[Pair], settings: TrainSettings
    ) -> None:
        # a new process: one that is forked hangs where a library has started threads before
        self._pool = ProcessPoolExecutor(
            1, mp_context=get_context("spawn"), initializer=_let_the_parent_handle_interrupts
        )
        self._models = dict(variants)
        self._runs = [
            self._pool.submit(_train_in_process, model, pairs, settings)
            for model in self._models.values()
        ]
        self._pool.shutdown(wait=False)

    def result(self) -> dict[str, tuple[Transformer, History]]:
        """Wait for all runs; return each trained model with its log."""
        found = {}
        for (name, model), run in zip(self._models.items(), self._runs, strict=True):
            weights, history = run.result()
            load_weights(model, {key: torch.from_numpy(value) for key, value in weights.items()})
            found[name] = (model.eval(), history)
        return found


def train_in_background(
    task: Task, variants: Mapping[str, Mapping[str, Any]], settings: TrainSettings
) -> BackgroundRuns:
    """Begin to train one model for each variant (changes to the configuration), and return at once.

    All start from the seed of `settings` and get the same data in the same order.

    Raises:
        TypeError: the configuration has no such field.
        ValueError: it does not allow that value.
    """
    models = {
        name: new_model(task, seed=settings.seed, **changes) for name, changes in variants.items()
    }
    return BackgroundRuns(models, task.pairs("train"), settings.replace(threads=1))


def _let_the_parent_handle_interrupts() -> None:
    # the stop button of a notebook reaches its whole group of processes
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _train_in_process(
    model: Transformer, pairs: Sequence[Pair], settings: TrainSettings
) -> tuple[dict[str, NDArray[Any]], History]:
    history = train(model, pairs, settings, progress=False)
    # arrays, because a tensor is sent as a file that ends with this process
    return {name: value.numpy() for name, value in unique_weights(model).items()}, history


def translations(model: Transformer, task: Task, examples: Sequence[Example]) -> list[str]:
    """Return the model's greedy translation of each example, as it would be written."""
    lines = [example.source_text for example in examples]
    best = translate(model, task.codec, lines, Decoding(beam=1))
    return [found[0].text for found in best]


def exact_match(model: Transformer, task: Task, examples: Sequence[Example]) -> float:
    """Return the share of examples whose translation equals the reference, letter by letter."""
    outputs = translations(model, task, examples)
    return exact_matches(outputs, [example.target_text for example in examples])


def exact_by_kind(
    outputs: Sequence[str], examples: Sequence[Example], book: Phrasebook
) -> dict[str, tuple[int, int]]:
    """Return, by kind of held-out pair, how many translations are exact, and of how many."""
    counts = {kind: (0, 0) for kind in KINDS}
    for output, example in zip(outputs, examples, strict=True):
        for kind in {pair[0] for pair in book.held_out.intersection(example.combinations)}:
            right, total = counts[kind]
            counts[kind] = (right + (output == example.target_text), total + 1)
    return counts


@torch.no_grad()
def next_word_accuracy(model: Transformer, pairs: Sequence[Pair]) -> float:
    """Return the share of target tokens that come first when the words before them are given."""
    model.eval()
    right = total = 0
    for start in range(0, len(pairs), 250):
        batch = collate(pairs[start : start + 250])
        is_token = batch.target_out != PAD_ID
        guess = model(batch.source, batch.target_in).argmax(dim=-1)
        right += int((guess == batch.target_out)[is_token].sum())
        total += int(is_token.sum())
    return right / total


@torch.no_grad()
def head_scores(
    model: Transformer, task: Task, examples: Sequence[Example], *, row: Row = "predicts"
) -> list[list[AlignmentScore]]:
    """Score every encoder–decoder head, layer by layer, against the gold alignment.

    `row="predicts"` looks at the row that predicts a word; "reads" at the row below it, where the
    word is the input. That is the wrong one, kept to show what it does.
    """
    maps = [cross_attention(model, task, example) for example in examples]
    if row == "reads":
        maps = [weights[:, :, 1:] for weights in maps]
    lengths = [(len(example.source), len(example.target)) for example in examples]
    return alignment_by_head(maps, [example.alignment for example in examples], lengths)


def head_errors(
    model: Transformer, task: Task, examples: Sequence[Example], *, row: Row = "predicts"
) -> Float[Tensor, "layers heads"]:
    """Return the alignment error of every encoder–decoder head; see `head_scores`."""
    scores = head_scores(model, task, examples, row=row)
    return torch.tensor([[head.error for head in layer] for layer in scores])


def diagonal_error(examples: Sequence[Example]) -> float:
    """Return the alignment error of the diagonal, which looks at nothing but places."""
    links = [
        diagonal_alignment(n_source=len(example.source), n_target=len(example.target))
        for example in examples
    ]
    return score_alignments(links, [example.alignment for example in examples]).error


@torch.no_grad()
def cross_attention(
    model: Transformer, task: Task, example: Example
) -> Float[Tensor, "layers heads target_len source_len"]:
    """Return the encoder–decoder weights of one example; the decoder reads the reference."""
    model.eval()
    batch = collate(encoded([example], task.codec))
    return model.attention(batch.source, batch.target_in).cross[:, 0]
