"""The check of chapter 16 on BLEU of a corpus (§6.1)."""

from collections import Counter
from collections.abc import Callable, Sequence
from math import prod
from statistics import fmean
from typing import Any

from transformer.analysis.bleu import (
    brevity_penalty,
    clipped_matches,
    corpus_bleu,
    ngram_counts,
)
from walkthrough.ch16_translation.checks.matches import (
    Count,
    Tokens,
    unclipped,
)
from walkthrough.checking import Arguments, Case, Check, Mistake, Symptom, fixed

Corpus = Sequence[Tokens]
Pairs = Sequence[tuple[Tokens, Tokens]]


def _n_runs(hypothesis: Tokens, n: int) -> int:
    return max(len(hypothesis) - n + 1, 0)


def _precision(pairs: Pairs, n: int, count: Count) -> float:
    return sum(count(h, r, n) for h, r in pairs) / sum(_n_runs(h, n) for h, _ in pairs)


def _clipped_over_the_corpus(pairs: Pairs, n: int, _count: Count) -> float:
    ours = sum((ngram_counts(h, n) for h, _ in pairs), Counter())
    theirs = sum((ngram_counts(r, n) for _, r in pairs), Counter())
    return (ours & theirs).total() / ours.total()


def _mean_precision(pairs: Pairs, n: int, count: Count) -> float:
    return fmean(count(h, r, n) / _n_runs(h, n) for h, r in pairs if _n_runs(h, n))


def _root(precisions: Sequence[float]) -> float:
    return prod(precisions) ** (1 / len(precisions))


def _corpus_penalty(pairs: Pairs) -> float:
    return brevity_penalty(sum(len(h) for h, _ in pairs), sum(len(r) for _, r in pairs))


def _mean_penalty(pairs: Pairs) -> float:
    return fmean(brevity_penalty(len(h), len(r)) for h, r in pairs)


def _bleu(
    *,
    count: Count = clipped_matches,
    precision: Callable[[Pairs, int, Count], float] = _precision,
    mean: Callable[[Sequence[float]], float] = _root,
    penalty: Callable[[Pairs], float] = _corpus_penalty,
) -> Callable[[Corpus, Corpus], float]:
    """BLEU with parts changed."""

    def bleu(hypotheses: Corpus, references: Corpus) -> float:
        pairs = list(zip(hypotheses, references, strict=True))
        precisions = [precision(pairs, n, count) for n in (1, 2, 3, 4)]
        return 100 * penalty(pairs) * mean(precisions)

    return bleu


def _mistake(name: str, say: str, **changes: Any) -> Mistake:
    return Mistake(name, _bleu(**changes), say)


def _is_the_mean_of_sentences(result: Any, expected: Any, given: Arguments) -> bool:
    found = fmean(corpus_bleu([h], [r]) for h, r in zip(*given.positional, strict=True))
    return abs(result - found) < 1e-6 < abs(found - expected)


def _bleu_case(label: str, *pairs: tuple[str, str]) -> Case:
    hypotheses = [hypothesis.split() for hypothesis, _ in pairs]
    references = [reference.split() for _, reference in pairs]
    return fixed(label, hypotheses, references)


_MISS = ("Jane visits the small house in winter .", "Jane visits the old house in winter .")
_SHORT = ("the dog sleeps in the", "the dog sleeps in the green garden .")
_TWO_WORDS = ("Jane sleeps", "Jane sleeps")
_LONG = ("the cat sees the the the dog in the garden .", "the cat sees the dog in the garden .")

_TOO_LONG = ("Jane visits the very old house in the winter .", "Jane visits the house in winter .")
_CAPITAL = ("the Dog sleeps in the green garden .", "the dog sleeps in the green garden .")
_JOINED = ("he is no where in the old house .", "he is now here in the old house .")

_HOUSE = ("the old dog sleeps in the house .", "the old dog sleeps in the garden .")
_GARDEN = ("this morning he sees the garden again .", "this morning he sees the house again .")


bleu = Check(
    name="bleu",
    reference=corpus_bleu,
    tolerance=1e-6,
    cases=[
        _bleu_case("two sentences, one of them cut short", _MISS, _SHORT),
        _bleu_case("three sentences, one with a word too often", _MISS, _SHORT, _LONG),
        _bleu_case("translations that equal their references", (_MISS[1],) * 2, (_LONG[1],) * 2),
        _bleu_case("two sentences, each with a word of the other's reference", _HOUSE, _GARDEN),
        _bleu_case("two sentences, one of two words", _MISS, _TWO_WORDS),
        _bleu_case("translations longer than their references", _LONG, _TOO_LONG),
        _bleu_case("a capital letter that differs", _MISS, _CAPITAL),
        _bleu_case("words that read alike when joined", _JOINED, _MISS),
    ],
    mistakes=[
        _mistake(
            "clipped over the corpus",
            "the matches are clipped once, over the whole corpus: a word that is wrong in one "
            "sentence matches the reference of another. Clip each sentence by its own reference, "
            "then add the matches up.",
            precision=_clipped_over_the_corpus,
        ),
        _mistake(
            "a precision for each sentence",
            "you take each sentence's precision and then their mean. Add matches and totals over "
            "all sentences first, and divide once for each n.",
            precision=_mean_precision,
        ),
        _mistake(
            "no brevity penalty",
            "the brevity penalty is missing: a translation that stops early is not punished. (Or "
            "it is always 1: are the lengths added up?)",
            penalty=lambda _pairs: 1.0,
        ),
        _mistake(
            "not clipped",
            "the matches are not clipped: a word that is said too often counts each time.",
            count=unclipped,
        ),
        _mistake(
            "arithmetic mean",
            "you take the arithmetic mean of the four precisions. It is the geometric mean: the "
            "fourth root of their product.",
            mean=fmean,
        ),
        _mistake(
            "no root",
            "you multiply the four precisions and take no fourth root. Their product is not their "
            "mean.",
            mean=prod,
        ),
        _mistake(
            "a penalty for each sentence",
            "you take the mean of the sentences' penalties. There is one, for the corpus: add the "
            "lengths first.",
            penalty=_mean_penalty,
        ),
    ],
    symptoms=[  # whatever it does for a sentence without runs of four
        Symptom(
            "mean over sentences",
            _is_the_mean_of_sentences,
            "that is the mean of the BLEU of single sentences. BLEU adds up matches and totals "
            "over all sentences and divides once.",
        ),
    ],
    right="`bleu` is right, for eight small corpora",
)
