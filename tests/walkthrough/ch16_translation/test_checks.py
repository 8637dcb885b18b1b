"""The checks of chapter 16 accept right answers and name every mistake they list."""

from collections import Counter
from math import exp, log

import pytest
from soundness import assert_check_is_sound

from walkthrough.ch16_translation import checks

ALL = [checks.matches, checks.penalty, checks.bleu]


@pytest.mark.parametrize("check", ALL, ids=lambda check: check.name)
def test_check_rejects_and_names_each_mistake(check):
    assert_check_is_sound(check)


def test_a_learners_own_ways_are_right():
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

    assert checks.penalty(penalty).status == "right"
    assert checks.bleu(bleu).status == "right"


def bleu_with_totals(hypotheses, references, *, least):
    product = 1.0
    for n in range(1, 5):
        pairs = zip(hypotheses, references, strict=True)
        hits = sum(checks.matches.reference(h, r, n) for h, r in pairs)
        product *= hits / sum(max(len(h) - n + 1, least) for h in hypotheses)
    lengths = [len(h) for h in hypotheses], [len(r) for r in references]
    return 100 * checks.penalty.reference(*lengths) * product**0.25


def test_a_sentence_shorter_than_n_has_no_runs():
    assert checks.bleu(lambda h, r: bleu_with_totals(h, r, least=0)).status == "right"
    assert checks.bleu(lambda h, r: bleu_with_totals(h, r, least=-9)).status == "wrong"


@pytest.mark.parametrize("of_short", [0.0, 100.0, None])
def test_a_mean_over_sentences_is_named_whatever_it_makes_of_short_ones(of_short):
    def bleu(hypotheses, references):
        pairs = list(zip(hypotheses, references, strict=True))
        each = [bleu_with_totals([h], [r], least=0) if len(h) > 3 else of_short for h, r in pairs]
        return sum(each) / len(each)

    assert checks.bleu(bleu).mistake == "mean over sentences"
