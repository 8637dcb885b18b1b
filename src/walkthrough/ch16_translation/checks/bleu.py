"""The check of chapter 16 on BLEU of a corpus (§6.1)."""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import chain
from math import exp, isclose, prod
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
    joined_runs,
    letters,
    lowered,
    unclipped,
)
from walkthrough.checking.base import Arguments, Case, Check, Mistake, Symptom, fixed

Corpus = Sequence[Tokens]
Pairs = Sequence[tuple[Tokens, Tokens]]
OnePenalty = Callable[[int, int], float]


Total = Callable[[Tokens, Tokens, int], int]


def _n_runs(hypothesis: Tokens, _reference: Tokens, n: int) -> int:
    return max(len(hypothesis) - n + 1, 0)


def _precision(pairs: Pairs, n: int, count: Count, total: Total) -> float:
    return sum(count(h, r, n) for h, r in pairs) / sum(total(h, r, n) for h, r in pairs)


def _mean_precision(pairs: Pairs, n: int, count: Count, total: Total) -> float:
    return fmean(count(h, r, n) / max(total(h, r, n), 1) for h, r in pairs)


def _smoothed(pairs: Pairs, n: int, count: Count, total: Total) -> float:
    hits, runs = sum(count(h, r, n) for h, r in pairs), sum(total(h, r, n) for h, r in pairs)
    return (hits + 1) / (runs + 1)


def _root(precisions: Sequence[float]) -> float:
    return prod(precisions) ** (1 / len(precisions))


def _corpus_penalty(pairs: Pairs, one: OnePenalty) -> float:
    return one(sum(len(h) for h, _ in pairs), sum(len(r) for _, r in pairs))


def _mean_penalty(pairs: Pairs, one: OnePenalty) -> float:
    return fmean(one(len(h), len(r)) for h, r in pairs)


def _product_of_penalties(pairs: Pairs, one: OnePenalty) -> float:
    return prod(one(len(h), len(r)) for h, r in pairs)


def _bleu(
    *,
    count: Count = clipped_matches,
    total: Total = _n_runs,
    precision: Callable[[Pairs, int, Count, Total], float] = _precision,
    orders: Sequence[int] = (1, 2, 3, 4),
    mean: Callable[[Sequence[float]], float] = _root,
    one_penalty: OnePenalty = brevity_penalty,
    penalty: Callable[[Pairs, OnePenalty], float] = _corpus_penalty,
    scale: int = 100,
) -> Callable[[Corpus, Corpus], float]:
    """BLEU with parts changed."""

    def bleu(hypotheses: Corpus, references: Corpus) -> float:
        pairs = list(zip(hypotheses, references, strict=True))
        precisions = [precision(pairs, n, count, total) for n in orders]
        return scale * penalty(pairs, one_penalty) * mean(precisions)

    return bleu


def _mistake(name: str, say: str, **changes: Any) -> Mistake:
    return Mistake(name, _bleu(**changes), say)


def _any_sentence(hypotheses: Corpus, references: Corpus) -> float:
    """Every reference of the corpus counts as one of every sentence."""

    def count(hypothesis: Tokens, _reference: Tokens, n: int) -> int:
        known = sum((ngram_counts(r, n) for r in references), Counter())
        return (ngram_counts(hypothesis, n) & known).total()

    return _bleu(count=count)(hypotheses, references)


def _one_long_sentence(hypotheses: Corpus, references: Corpus) -> float:
    return corpus_bleu([list(chain(*hypotheses))], [list(chain(*references))])


def _mean_of_sentences(hypotheses: Corpus, references: Corpus) -> float:
    return fmean(corpus_bleu([h], [r]) for h, r in zip(hypotheses, references, strict=True))


def _is_mean_of_sentences(result: float, expected: float, given: Arguments) -> bool:
    return isclose(result, _mean_of_sentences(*given.positional), rel_tol=1e-6)


def _letters(corpus: Corpus) -> list[list[str]]:
    return [list(" ".join(sentence)) for sentence in corpus]


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

_MEAN_OF_SENTENCES = (
    "that is the mean of the BLEU of single sentences. BLEU adds up matches and totals over all "
    "sentences and divides once."
)

bleu = Check(
    name="bleu",
    reference=corpus_bleu,
    tolerance=1e-6,
    cases=[
        _bleu_case("two sentences, one of them cut short", _MISS, _SHORT),
        _bleu_case("three sentences, one with a word too often", _MISS, _SHORT, _LONG),
        _bleu_case("translations that equal their references", (_MISS[1],) * 2, (_LONG[1],) * 2),
        _bleu_case("two sentences, one of two words", _MISS, _TWO_WORDS),
        _bleu_case("translations longer than their references", _LONG, _TOO_LONG),
        _bleu_case("a capital letter that differs", _MISS, _CAPITAL),
        _bleu_case("words that read alike when joined", _JOINED, _MISS),
    ],
    mistakes=[
        Mistake("mean over sentences", _mean_of_sentences, _MEAN_OF_SENTENCES),
        _mistake(
            "no brevity penalty",
            "the brevity penalty is missing: a translation that stops early is not punished. (Or "
            "it is always 1: are the lengths added up?)",
            one_penalty=lambda _c, _r: 1.0,
        ),
        _mistake(
            "not clipped",
            "the matches are not clipped: a word that is said too often counts each time.",
            count=unclipped,
        ),
        _mistake(
            "each run once",
            "every run counts once, however often both sides have it: a set forgets this, a "
            "`Counter` does not.",
            count=lambda h, r, n: len(set(ngram_counts(h, n)) & set(ngram_counts(r, n))),
        ),
        _mistake(
            "arithmetic mean",
            "you take the arithmetic mean of the four precisions. It is the geometric mean: the "
            "fourth root of their product.",
            mean=fmean,
        ),
        _mistake(
            "single words only",
            "that is the precision of single words. There are four: for runs of 1, 2, 3 and 4.",
            orders=(1,),
        ),
        Mistake(
            "recall",
            lambda h, r: corpus_bleu(r, h),
            "translation and reference are exchanged. The totals are the runs of the translation.",
        ),
        _mistake(
            "a share",
            "right up to a factor: you return a share. Scores are printed in percent.",
            scale=1,
        ),
        _mistake(
            "no limit to the penalty",
            "translations longer than their references get a bonus. The brevity penalty is 1 at "
            "most.",
            one_penalty=lambda c, r: exp(1 - r / c),
        ),
        _mistake(
            "penalty turned over",
            "you divide by the brevity penalty, so that short translations gain. Multiply.",
            one_penalty=lambda c, r: 1 / brevity_penalty(c, r),
        ),
        _mistake(
            "lengths of the penalty exchanged",
            "the lengths in your brevity penalty are exchanged: long translations are punished, "
            "short ones are not.",
            one_penalty=lambda c, r: brevity_penalty(r, c),
        ),
        _mistake(
            "the ratio for the penalty",
            "your brevity penalty is the ratio of the lengths, c / r. It is exp(1 − r / c), which "
            "falls faster.",
            one_penalty=lambda c, r: min(1.0, c / r),
        ),
        _mistake(
            "the penalty's larger one",
            "of 1 and exp(1 − r / c), the brevity penalty is the *smaller* one; you take the "
            "larger one.",
            one_penalty=lambda c, r: max(1.0, exp(1 - r / c)),
        ),
        _mistake(
            "a penalty for each sentence",
            "you take the mean of the sentences' penalties. There is one, for the corpus: add the "
            "lengths first.",
            penalty=_mean_penalty,
        ),
        _mistake(
            "the penalties multiplied",
            "you multiply the sentences' penalties. There is one, for the corpus: add the lengths "
            "first.",
            penalty=_product_of_penalties,
        ),
        _mistake(
            "no root",
            "the fourth root is missing: you multiply the four precisions as they are.",
            mean=prod,
        ),
        _mistake(
            "divided by four",
            "the product of the precisions is divided by 4. A geometric mean takes the fourth "
            "root: `** (1 / 4)`.",
            mean=lambda found: prod(found) / 4,
        ),
        _mistake(
            "square root",
            "you take the square root of the product. Of four precisions it is the fourth root.",
            mean=lambda found: prod(found) ** 0.5,
        ),
        _mistake(
            "the power 0",
            "your power is 0, so that the precisions do not matter: `1 // 4` is 0, `1 / 4` is not.",
            mean=lambda found: prod(found) ** 0,
        ),
        _mistake(
            "the sum of the precisions",
            "you add the four precisions. It is the geometric mean: the fourth root of their "
            "product.",
            mean=sum,
        ),
        _mistake(
            "up to runs of three",
            "you take runs of 1, 2 and 3 words. BLEU goes up to 4.",
            orders=(1, 2, 3),
        ),
        _mistake(
            "three precisions, fourth root",
            "the runs of 4 words are missing: you take the fourth root, but of three precisions. "
            "`range(1, 4)` ends at 3.",
            orders=(1, 2, 3),
            mean=lambda found: prod(found) ** 0.25,
        ),
        _mistake(
            "up to runs of five",
            "you take runs of 1 to 5 words. BLEU ends at 4.",
            orders=(1, 2, 3, 4, 5),
        ),
        _mistake(
            "runs of four only",
            "that is the precision of runs of 4 words alone, the smallest of the four. BLEU takes "
            "the geometric mean of those of 1, 2, 3 and 4 words.",
            orders=(4,),
        ),
        _mistake(
            "without single words",
            "the runs of 1 word, single words, are missing from your product.",
            orders=(2, 3, 4),
        ),
        _mistake(
            "totals of the reference",
            "you divide the matches by the runs of the *reference*. A precision divides by those "
            "of the translation.",
            total=lambda _h, r, n: max(len(r) - n + 1, 0),
        ),
        _mistake(
            "totals are words",
            "your totals are the words of the translation, for every n. A sentence of m words has "
            "m − n + 1 runs of n words.",
            total=lambda h, _r, _n: len(h),
        ),
        _mistake(
            "totals one too few",
            "every sentence has a run too few in your totals: m words make m − n + 1 runs.",
            total=lambda h, _r, n: max(len(h) - n, 0),
        ),
        _mistake(
            "totals of different runs",
            "your totals count every different run once: `len` of a `Counter`. Add up its counts.",
            total=lambda h, _r, n: len(ngram_counts(h, n)),
        ),
        _mistake(
            "totals below zero",
            "a sentence of m words counts m − n + 1 runs in your totals, and that is below 0 for "
            "short ones. A sentence shorter than n has no runs: count 0.",
            total=lambda h, _r, n: len(h) - n + 1,
        ),
        _mistake(
            "totals of at least 1",
            "a sentence shorter than n counts one run in your totals. It has none: count 0.",
            total=lambda h, _r, n: max(len(h) - n + 1, 1),
        ),
        _mistake(
            "mean of the sentences' precisions",
            "you take the mean of the sentences' precisions. Add up the matches and the totals of "
            "all sentences, and divide once.",
            precision=_mean_precision,
        ),
        _mistake(
            "smoothed",
            "1 is added to matches and totals. Here every order has a match, so nothing is "
            "smoothed.",
            precision=_smoothed,
        ),
        _mistake(
            "lower-cased",
            "capital letters make no difference in your score. `The` and `the` are two words.",
            count=lambda h, r, n: clipped_matches(lowered(h), lowered(r), n),
        ),
        _mistake(
            "runs joined to one text",
            "you join the words of a run to one text, so that `no` + `where` and `now` + `here` "
            "are the same. Keep the run as a tuple of words.",
            count=joined_runs,
        ),
        _mistake(
            "letters",
            "you count runs of letters. The sentences are lists of words; do not join them.",
            count=letters,
            total=lambda h, _r, n: max(len(" ".join(h)) - n + 1, 0),
        ),
        Mistake(
            "letters, and their number for the penalty",
            lambda h, r: corpus_bleu(_letters(h), _letters(r)),
            "you count runs of letters. The sentences are lists of words; do not join them.",
        ),
        Mistake(
            "one long sentence",
            _one_long_sentence,
            "you join all sentences to one. Then there are runs across two sentences, which nobody "
            "wrote.",
        ),
        Mistake(
            "any reference",
            _any_sentence,
            "a run counts if any sentence of the references has it. Compare each translation with "
            "its own reference.",
        ),
        Mistake(
            "the first sentence",
            lambda h, r: corpus_bleu(h[:1], r[:1]),
            "only the first sentence counts. Does a `return` stand inside the loop?",
        ),
    ],
    symptoms=[
        # a single sentence of two words has no runs of four: there such code divides by 0
        Symptom("mean over sentences, in one case", _is_mean_of_sentences, _MEAN_OF_SENTENCES),
    ],
    right="`bleu` is right, for seven small corpora",
)
