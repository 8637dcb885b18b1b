"""Experiment 15-searches: ten half-trained translators, each asked by every search (§6.1).

What a beam gains over greedy search may be no more than an end: some of greedy's outputs do not
find theirs. So the rival is greedy search with a limit on length, and the limit was settled before
a test sentence was looked at: no validation reference has more than `MARGIN` words more than its
source, nor has any of the references trained on.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from transformer.analysis.bleu import score
from transformer.inference import beam_search, greedy_decode, length_penalty
from transformer.inference.exact import exact_search
from transformer.inference.greedy import EXTRA_TOKENS
from transformer.model import Transformer
from walkthrough.ch15_decoding.experiments.averaging import TASK, train_small
from walkthrough.ch15_decoding.experiments.decoding import TIE, log_probs, source_batch
from walkthrough.lab import Arm, Experiment, Job, Key, Outcome, half_trained, translator
from walkthrough.lab.measures import sentence_counts
from walkthrough.lab.tasks import settings_of

TESTS = ("test_sentences", "test_combinations")
N_SENTENCES = 400
MARGIN = 3
ALPHAS = (0.3, 0.6, 1.0, 2.0)
Ids = list[int]


class Search(NamedTuple):
    """Greedy for a beam of 1, exact without a beam; an output has up to `extra` words more."""

    beam: int | None
    alpha: float = 0.0
    extra: int = EXTRA_TOKENS
    early: bool = False


@cache
def task_of(small: bool) -> translator.Task:
    """Load the corpus once a process."""
    return TASK.load(small=small)


@cache
def model_of(length: int, seed: int, small: bool) -> Transformer:
    """Train a translator once a process: all arms ask the same one."""
    task, key = task_of(small), Key("half-trained", length=length, seed=seed)
    return train_small(task, settings_of(task.plan.training, Arm(key.arm), key))


def found_by(model: Transformer, sources: Sequence[Ids], search: Search) -> list[Ids]:
    """Return what a search says for each source."""
    if search.beam is None:
        each = (source_batch([ids]) for ids in sources)
        return [exact_search(model, source).best.tokens for source in each]
    batch, extra = source_batch(sources), search.extra
    if search.beam == 1:
        return greedy_decode(model, batch, extra_tokens=extra)
    found = beam_search(
        model,
        batch,
        beam=search.beam,
        alpha=search.alpha,
        early_stopping=search.early,
        extra_tokens=extra,
    )
    return [best.tokens for (best,) in found]


@cache
def outputs_of(length: int, seed: int, small: bool, split: str, search: Search) -> list[Ids]:
    """Return what a search says for each sentence of a split, asked once a process."""
    sources = [source for source, _ in task_of(small).pairs(split)[:N_SENTENCES]]
    return found_by(model_of(length, seed, small), sources, search)


@cache
def totals(length: int, seed: int, small: bool, split: str, search: Search | None) -> list[float]:
    """Return log P of what a search says for each sentence, of the references without a search."""
    pairs = task_of(small).pairs(split)[:N_SENTENCES]
    if search is not None:
        outputs = outputs_of(length, seed, small, split, search)
        pairs = [(source, out) for (source, _), out in zip(pairs, outputs, strict=True)]
    return log_probs(model_of(length, seed, small), pairs)


def edits(one: Sequence[int], other: Sequence[int]) -> int:
    """Return how many words must be put in, taken out or exchanged to make one from the other."""
    row = list(range(len(other) + 1))
    for n, word in enumerate(one, start=1):
        diagonal, row[0] = row[0], n
        for m, wanted in enumerate(other, start=1):
            diagonal, row[m] = row[m], min(row[m - 1] + 1, row[m] + 1, diagonal + (word != wanted))
    return row[-1]


def searched(job: Job, *, search: Search, kept: bool = False) -> Outcome:
    """Let one search translate; with `kept`, each sentence's counts are stored.

    `bleu_precision` is BLEU without its brevity penalty. `length` is words of the outputs over
    words of the references; `unended` the share of outputs as long as their limit lets them be.
    `edits` are counted for each token of the references, end tokens included; `taught_error` is the
    share of tokens that are not first when the reference stands before them.
    """
    which = (job.length, job.seed, job.small)
    task = task_of(job.small)
    figures: dict[str, float] = {}
    counts: dict[str, Any] = {}
    for split in ("valid", *TESTS):
        if split == "valid" and search.beam is None:
            continue  # on validation sentences α is chosen, nothing else
        pairs = task.pairs(split)[:N_SENTENCES]
        outputs = outputs_of(*which, split, search)
        said = [task.codec.decode(ids) for ids in outputs]
        wanted = [task.codec.decode(ids) for _, ids in pairs]
        both = list(zip(outputs, pairs, strict=True))
        right = [out == ids for out, (_, ids) in both]
        scores = score(said, wanted)
        one = {
            "exact": fmean(right),
            "bleu": scores.bleu,
            "bleu_precision": scores.bleu / (scores.brevity_penalty or 1),
            "length": sum(map(len, outputs)) / sum(len(ids) for _, ids in pairs),
            "unended": fmean(len(out) >= len(ids) + search.extra for out, (ids, _) in both),
            "edits": sum(edits(out, ids) for out, (_, ids) in both)
            / sum(len(ids) + 1 for _, ids in pairs),
        }
        if split != "valid":
            one |= judged(*which, split, search, right)
            if search == Search(1):
                one["taught_error"] = 1 - translator.next_word_accuracy(model_of(*which), pairs)
            if kept:
                rows = np.array([[ok, 1] for ok in right], dtype=np.int16)
                counts[f"{split}/search/exact"] = rows
                counts[f"{split}/search/bleu"] = sentence_counts(said, wanted).astype(np.int16)
        figures |= {f"{split}/search/{name}": value for name, value in one.items()}
    return Outcome(figures=figures, counts=counts)


def judged(
    length: int, seed: int, small: bool, split: str, search: Search, right: Sequence[bool]
) -> dict[str, float]:
    """Return what the model's own scores say of a search.

    `search_error` is the share of outputs that are not the most probable, `preferred` of the wrong
    ones whose reference has the higher log P, `below_greedy` of those whose score, by the search's
    α, is below that of greedy's output.
    """
    which = (length, seed, small, split)
    found, gold, best = (totals(*which, one) for one in (search, None, Search(None)))
    own, greedy = (
        [
            value / length_penalty(len(ids) + 1, search.alpha)
            for value, ids in zip(totals(*which, one), outputs_of(*which, one), strict=True)
        ]
        for one in (search, Search(1))
    )
    wrong = [g > f + TIE for g, f, ok in zip(gold, found, right, strict=True) if not ok]
    return {
        "log_prob": fmean(found),
        "search_error": fmean(b > f + TIE for b, f in zip(best, found, strict=True)),
        "below_greedy": fmean(g > f + TIE for g, f in zip(greedy, own, strict=True)),
        "preferred": fmean(wrong) if wrong else 0.0,
    }


def asked(name: str, search: Search, *, kept: bool = False) -> Arm:
    """Return the arm of a search."""
    return Arm(name, run=partial(searched, search=search, kept=kept))


EXPERIMENT = Experiment(
    name="15-searches",
    question="Does a search that finds better scores write better translations?",
    task=TASK,
    base="greedy",
    rival="greedy",
    no_rate="every arm decodes the same ten models",
    arms=[
        asked("greedy", Search(1), kept=True),
        asked("greedy, limited", Search(1, extra=MARGIN), kept=True),
        asked("beam 4", Search(4), kept=True),
        asked("beam 4, limited", Search(4, extra=MARGIN), kept=True),
        asked("beam 4, early", Search(4, early=True), kept=True),
        asked("beam 10", Search(10)),
        asked("exact search", Search(None), kept=True),
        *(
            replace(
                asked(f"beam 4, α = {alpha}", Search(4, alpha), kept=alpha == 0.6),
                labels={"alpha": alpha},
            )
            for alpha in ALPHAS
        ),
    ],
    lengths=(half_trained.UPDATES,),
)
