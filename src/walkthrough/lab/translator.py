"""The translator of chapter 14: trained on the phrasebook, whole or with one thing broken (§5).

The sizes and the recipe are those of the preset "phrasebook" (`transformer.cli.plan`), the one that
`python -m transformer train --preset phrasebook` uses.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from phrasebook import Example, Phrasebook, phrasebook
from phrasebook.codec import PhrasebookCodec
from transformer.cli.corpora import exact_matches
from transformer.cli.plan import Plan, make_plan
from transformer.config import PAD_ID
from transformer.data.batching import Pair, collate
from transformer.inference.translate import Decoding, translate
from transformer.model import Transformer

PRESET = "phrasebook"


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


def translations(model: Transformer, task: Task, examples: Sequence[Example]) -> list[str]:
    """Return the model's greedy translation of each example, as it would be written."""
    lines = [example.source_text for example in examples]
    best = translate(model, task.codec, lines, Decoding(beam=1))
    return [hypotheses[0].text for hypotheses in best]


def exact_match(model: Transformer, task: Task, examples: Sequence[Example]) -> float:
    """Return the share of examples whose translation equals the reference, letter by letter."""
    outputs = translations(model, task, examples)
    return exact_matches(outputs, [example.target_text for example in examples])


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
