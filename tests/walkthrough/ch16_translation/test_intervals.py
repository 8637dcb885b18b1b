"""The paired bootstrap gives sacrebleu's scores and, for one run a side, its verdict."""

import random

import pytest
from sacrebleu.metrics import BLEU
from sacrebleu.significance import PairedTest

from transformer.analysis.bleu import score
from walkthrough.ch16_translation.experiments.intervals import (
    bleu_of_counts,
    difference_of_counts,
    sentence_counts,
)

WORDS = "a dog runs over the green grass and two men in red shirts look at it .".split()  # noqa: SIM905


def paired_difference(ours, theirs, references, **options):
    """Return the difference of two systems of which the translations are at hand."""
    sides = ([sentence_counts(run, references) for run in runs] for runs in (ours, theirs))
    return difference_of_counts(*sides, **options)


@pytest.fixture(scope="module")
def corpus():
    draw = random.Random(0)
    references = [" ".join(draw.choices(WORDS, k=draw.randint(6, 14))) for _ in range(120)]

    def worse(share):
        return [
            " ".join(draw.choice(WORDS) if draw.random() < share else w for w in line.split())
            for line in references
        ]

    return references, worse(0.2), worse(0.23), worse(0.5)


def test_counts_added_up_give_the_score_of_sacrebleu(corpus):
    references, good, _, bad = corpus
    for lines in (good, bad, [line.rsplit(" ", 1)[0] for line in good]):
        found = bleu_of_counts(sentence_counts(lines, references).sum(axis=0))
        assert found == pytest.approx(score(lines, references, tokenize="none").bleu)


def test_a_large_difference_is_sure_and_a_small_one_is_not(corpus):
    references, good, nearly, bad = corpus
    sure = paired_difference([good], [bad], references, draws=200)
    assert 0 < sure.low < sure.measured < sure.high
    assert sure.share_below == 0
    unsure = paired_difference([good], [nearly], references, draws=200)
    assert unsure.low < 0 < unsure.high
    turned = paired_difference([nearly], [good], references, draws=200)
    assert turned.low == pytest.approx(-unsure.high)


def test_it_agrees_with_the_paired_test_of_sacrebleu(corpus):
    references, good, nearly, bad = corpus
    metric = {"BLEU": BLEU(tokenize="none", force=True)}
    systems = [("bad", bad), ("good", good), ("nearly", nearly)]
    _, theirs = PairedTest(systems, metric, [references], test_type="bs", n_samples=500)()
    assert theirs["BLEU"][1].p_value < 0.01
    systems = [("nearly", nearly), ("good", good)]
    _, theirs = PairedTest(systems, metric, [references], test_type="bs", n_samples=500)()
    ours = paired_difference([good], [nearly], references, draws=500)
    assert theirs["BLEU"][1].p_value > 0.05
    assert ours.share_below > 0.02


def test_the_mean_of_seeds_is_compared(corpus):
    references, good, nearly, bad = corpus
    found = paired_difference([good, nearly], [bad], references, draws=20)
    alone = [paired_difference([run], [bad], references, draws=20) for run in (good, nearly)]
    assert found.measured == pytest.approx(sum(one.measured for one in alone) / 2)


def test_unfit_runs_are_refused(corpus):
    references, good, *_ = corpus
    with pytest.raises(ValueError, match="got 0 and 1"):
        paired_difference([], [good], references)
    with pytest.raises(ValueError, match="got 119 and 120"):
        sentence_counts(good[1:], references)
    counts = sentence_counts(good, references)
    with pytest.raises(ValueError, match=r"as many sentences, got \[119, 120\]"):
        difference_of_counts([counts[1:]], [counts])
