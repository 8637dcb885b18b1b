"""The checks of chapter 16 accept right answers and name every mistake they list."""

from collections import Counter
from math import exp, log

import pytest

from walkthrough.ch16_translation import checks
from walkthrough.checking.soundness import assert_check_is_sound

ALL = [checks.matches, checks.penalty, checks.bleu, checks.days_on_one]


@pytest.mark.parametrize("check", ALL, ids=lambda check: check.name)
def test_check_rejects_and_names_each_mistake(check):
    assert_check_is_sound(check)
    assert len(check.mistakes) >= 3


def test_a_learners_own_ways_are_right():
    def matches(hypothesis, reference, n):
        left = [tuple(reference[i : i + n]) for i in range(len(reference) - n + 1)]
        found = 0
        for i in range(len(hypothesis) - n + 1):
            gram = tuple(hypothesis[i : i + n])
            if gram in left:
                left.remove(gram)
                found += 1
        return found

    def penalty(hypotheses, references):
        c, r = sum(hypotheses), sum(references)
        return exp(1 - r / c) if c < r else 1.0

    def bleu(hypotheses, references):
        logs = 0.0
        for n in range(1, 5):
            hits, total = 0, 0
            for h, r in zip(hypotheses, references, strict=True):
                ours = Counter(zip(*(h[i:] for i in range(n)), strict=False))
                theirs = Counter(zip(*(r[i:] for i in range(n)), strict=False))
                hits += sum(min(count, theirs[gram]) for gram, count in ours.items())
                total += sum(ours.values())
            logs += log(hits / total)
        return 100 * penalty(map(len, hypotheses), map(len, references)) * exp(logs / 4)

    assert checks.matches(matches).status == "right"
    assert checks.penalty(penalty).status == "right"
    assert checks.bleu(bleu).status == "right"


def test_matches_counted_in_the_reference_are_too_many():
    def matches(hypothesis, reference, n):
        def runs(words):
            return [words[i : i + n] for i in range(len(words) - n + 1)]

        return sum(run in runs(hypothesis) for run in runs(reference))

    assert checks.matches(matches).mistake == "counted in the reference"


def bleu_with_totals(hypotheses, references, *, least):
    product = 1.0
    for n in range(1, 5):
        pairs = zip(hypotheses, references, strict=True)
        hits = sum(checks.matches.reference(h, r, n) for h, r in pairs)
        product *= hits / sum(max(len(h) - n + 1, least) for h in hypotheses)
    lengths = [len(h) for h in hypotheses], [len(r) for r in references]
    return 100 * checks.penalty.reference(*lengths) * product**0.25


def test_a_sentence_shorter_than_n_has_no_runs():
    assert checks.bleu(lambda h, r: bleu_with_totals(h, r, least=0))
    below_zero = checks.bleu(lambda h, r: bleu_with_totals(h, r, least=-9))
    assert below_zero.mistake == "totals below zero"


def test_a_mean_over_sentences_is_named_although_it_stops_at_a_short_one():
    def mean(hypotheses, references):
        pairs = zip(hypotheses, references, strict=True)
        return sum(bleu_with_totals([h], [r], least=0) for h, r in pairs) / len(hypotheses)

    assert "mean of the BLEU of single sentences" in checks.bleu(mean).message


@pytest.mark.parametrize("answer", [13.6, 13.64, 13.57])
def test_days_may_be_rounded(answer):
    assert checks.days_on_one(answer).status == "right"
