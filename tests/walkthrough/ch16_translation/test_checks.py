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
    assert checks.bleu(lambda h, r: bleu_with_totals(h, r, least=0)).status == "right"
    assert checks.bleu(lambda h, r: bleu_with_totals(h, r, least=-9)).status == "wrong"


def test_a_penalty_that_is_the_larger_one_is_named():
    answer = checks.penalty(lambda h, r: max(1.0, exp(1 - sum(r) / sum(h))))
    assert "the *smaller* one" in answer.message


def test_clipping_over_the_pooled_corpus_is_refused():
    def precision(hypotheses, references, n):
        ours, theirs = Counter(), Counter()
        for h, r in zip(hypotheses, references, strict=True):
            ours.update(tuple(h[i : i + n]) for i in range(len(h) - n + 1))
            theirs.update(tuple(r[i : i + n]) for i in range(len(r) - n + 1))
        return (ours & theirs).total() / ours.total()

    def bleu(hypotheses, references):
        logs = sum(log(precision(hypotheses, references, n)) for n in (1, 2, 3, 4))
        lengths = [len(h) for h in hypotheses], [len(r) for r in references]
        return 100 * checks.penalty.reference(*lengths) * exp(logs / 4)

    assert checks.bleu(bleu).mistake == "clipped over the corpus"
