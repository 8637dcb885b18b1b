"""Experiment 15-searches: ten half-trained translators, each asked by every search (§6.1)."""

from collections.abc import Sequence
from functools import cache, partial
from statistics import fmean
from typing import Any

import numpy as np

from transformer.analysis.bleu import score
from transformer.data.batching import Pair
from transformer.inference import beam_search, greedy_decode
from transformer.inference.exact import exact_search
from transformer.model import Transformer
from walkthrough.ch15_decoding.experiments.averaging import TASK, train_small
from walkthrough.ch15_decoding.experiments.decoding import TIE, log_probs, source_batch
from walkthrough.lab import Arm, Experiment, Job, Key, Outcome, half_trained, translator
from walkthrough.lab.measures import sentence_counts
from walkthrough.lab.tasks import settings_of

TESTS = ("test_sentences", "test_combinations")
N_SENTENCES = 400
ALPHAS = (0.3, 0.6, 1.0, 2.0, 4.0, 8.0)
Ids = list[int]


@cache
def task_of(small: bool) -> translator.Task:
    """Load the corpus once a process."""
    return TASK.load(small=small)


@cache
def model_of(length: int, seed: int, small: bool) -> Transformer:
    """Train a translator once a process: all arms ask the same one."""
    task, key = task_of(small), Key("half-trained", length=length, seed=seed)
    return train_small(task, settings_of(task.plan.training, Arm(key.arm), key))


def found_by(
    model: Transformer, sources: Sequence[Ids], beam: int | None, alpha: float = 0.0
) -> list[Ids]:
    """Return what a search says for each source: greedy for a beam of 1, exact without a beam."""
    if beam is None:
        each = (source_batch([ids]) for ids in sources)
        return [exact_search(model, source).best.tokens for source in each]
    batch = source_batch(sources)
    if beam == 1:
        return greedy_decode(model, batch)
    return [best.tokens for (best,) in beam_search(model, batch, beam=beam, alpha=alpha)]


def totals(model: Transformer, pairs: Sequence[Pair], targets: Sequence[Ids]) -> list[float]:
    """Return log P of one output for each source."""
    return log_probs(
        model, [(source, out) for (source, _), out in zip(pairs, targets, strict=True)]
    )


@cache
def exact_outputs(length: int, seed: int, small: bool, split: str) -> list[Ids]:
    """Return the most probable output of each sentence, searched once a process."""
    sources = [source for source, _ in task_of(small).pairs(split)[:N_SENTENCES]]
    return found_by(model_of(length, seed, small), sources, None)


def edits(one: Sequence[int], other: Sequence[int]) -> int:
    """Return how many words must be put in, taken out or exchanged to make one from the other."""
    row = list(range(len(other) + 1))
    for n, word in enumerate(one, start=1):
        diagonal, row[0] = row[0], n
        for m, wanted in enumerate(other, start=1):
            diagonal, row[m] = row[m], min(row[m - 1] + 1, row[m] + 1, diagonal + (word != wanted))
    return row[-1]


def searched(job: Job, *, beam: int | None, alpha: float = 0.0, kept: bool = False) -> Outcome:
    """Let one search translate; with `kept`, each sentence's counts are stored.

    `length` is words of the outputs over words of the references. `search_error` is the share of
    outputs that are not the most probable, `preferred` of the wrong ones whose reference has the
    higher log P. `edits` are counted for each token of the references, end tokens included;
    `taught_error` is the share of tokens that are not first when the reference stands before them.
    """
    which = (job.length, job.seed, job.small)
    task, model = task_of(job.small), model_of(*which)
    figures: dict[str, float] = {}
    counts: dict[str, Any] = {}
    for split in ("valid", *TESTS):
        if split == "valid" and beam is None:
            continue  # on validation sentences α is chosen, nothing else
        pairs = task.pairs(split)[:N_SENTENCES]
        if beam is None:
            outputs = exact_outputs(*which, split)
        else:
            outputs = found_by(model, [source for source, _ in pairs], beam, alpha)
        said = [task.codec.decode(ids) for ids in outputs]
        wanted = [task.codec.decode(ids) for _, ids in pairs]
        right = [out == ids for out, (_, ids) in zip(outputs, pairs, strict=True)]
        one = {
            "exact": fmean(right),
            "bleu": score(said, wanted).bleu,
            "length": sum(map(len, outputs)) / sum(len(ids) for _, ids in pairs),
            "edits": sum(edits(out, ids) for out, (_, ids) in zip(outputs, pairs, strict=True))
            / sum(len(ids) + 1 for _, ids in pairs),
        }
        if split != "valid":
            found = totals(model, pairs, outputs)
            gold = totals(model, pairs, [ids for _, ids in pairs])
            best = totals(model, pairs, exact_outputs(*which, split))
            wrong = [g > f + TIE for g, f, ok in zip(gold, found, right, strict=True) if not ok]
            one |= {
                "log_prob": fmean(found),
                "search_error": fmean(b > f + TIE for b, f in zip(best, found, strict=True)),
                "preferred": fmean(wrong) if wrong else 0.0,
            }
            if beam == 1:
                one["taught_error"] = 1 - translator.next_word_accuracy(model, pairs)
            if kept:
                rows = np.array([[ok, 1] for ok in right], dtype=np.int16)
                counts[f"{split}/search/exact"] = rows
                counts[f"{split}/search/bleu"] = sentence_counts(said, wanted).astype(np.int16)
        figures |= {f"{split}/search/{name}": value for name, value in one.items()}
    return Outcome(figures=figures, counts=counts)


EXPERIMENT = Experiment(
    name="15-searches",
    question="Does a search that finds better scores write better translations?",
    task=TASK,
    base="greedy",
    rival="greedy",
    no_rate="every arm decodes the same ten models",
    arms=[
        Arm("greedy", run=partial(searched, beam=1, kept=True)),
        Arm("beam 2", run=partial(searched, beam=2)),
        Arm("beam 4", run=partial(searched, beam=4, kept=True)),
        Arm("beam 10", run=partial(searched, beam=10)),
        Arm("exact search", run=partial(searched, beam=None, kept=True)),
        *(
            Arm(
                f"beam 4, α = {alpha}",
                run=partial(searched, beam=4, alpha=alpha, kept=alpha == 0.6),
                labels={"alpha": alpha},
            )
            for alpha in ALPHAS
        ),
    ],
    lengths=(half_trained.UPDATES, 2 * half_trained.UPDATES),
)
