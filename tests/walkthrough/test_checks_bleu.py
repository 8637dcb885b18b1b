"""The checks of chapter 16 accept right answers and name every mistake they list."""

from collections import Counter
from math import exp, log

import pytest

from walkthrough.checks import bleu as checks
from walkthrough.checks.soundness import assert_check_is_sound

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


@pytest.mark.parametrize("answer", [13.6, 13.64, 13.57])
def test_days_may_be_rounded(answer):
    assert checks.days_on_one(answer).status == "right"
