"""The checks of chapter 16 on the whole: BLEU of a corpus, a cost turned into time (§6.1)."""

from collections.abc import Sequence
from math import exp, isclose, prod
from statistics import fmean

from transformer.analysis.bleu import brevity_penalty, clipped_matches, corpus_bleu
from transformer.analysis.cost import SUSTAINED_TFLOPS
from walkthrough.ch16_translation.checks.matches import (
    Count,
    Tokens,
    joined_runs,
    lowered,
    unclipped,
)
from walkthrough.checking.base import Arguments, Case, Check, Mistake, Symptom, fixed
from walkthrough.checking.values import ValueCheck, WrongValue

Corpus = Sequence[Tokens]


# Exercise: BLEU of a corpus ----------------------------------------------------------------------


def _precisions(
    hypotheses: Corpus, references: Corpus, count: Count, least: int = 0
) -> list[float]:
    pairs = list(zip(hypotheses, references, strict=True))
    return [
        sum(count(h, r, n) for h, r in pairs) / sum(max(len(h) - n + 1, least) for h in hypotheses)
        for n in range(1, 5)
    ]


def _short(hypotheses: Corpus, references: Corpus) -> float:
    return brevity_penalty(sum(map(len, hypotheses)), sum(map(len, references)))


def _geometric(
    hypotheses: Corpus, references: Corpus, count: Count = clipped_matches, least: int = 0
) -> float:
    return 100 * prod(_precisions(hypotheses, references, count, least)) ** 0.25


def _recalls(hypotheses: Corpus, references: Corpus) -> list[float]:
    pairs = list(zip(hypotheses, references, strict=True))
    return [
        sum(clipped_matches(h, r, n) for h, r in pairs)
        / sum(max(len(r) - n + 1, 0) for _, r in pairs)
        for n in range(1, 5)
    ]


def _unlimited(hypotheses: Corpus, references: Corpus) -> float:
    return exp(1 - sum(map(len, references)) / sum(map(len, hypotheses)))


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
        Mistake(
            "mean over sentences",
            _mean_of_sentences,
            _MEAN_OF_SENTENCES,
        ),
        Mistake(
            "no brevity penalty",
            lambda h, r: _geometric(h, r),
            "the brevity penalty is missing: a translation that stops early is not punished.",
        ),
        Mistake(
            "not clipped",
            lambda h, r: _short(h, r) * _geometric(h, r, unclipped),
            "the matches are not clipped: a word that is said too often counts each time.",
        ),
        Mistake(
            "arithmetic mean",
            lambda h, r: 100 * _short(h, r) * fmean(_precisions(h, r, clipped_matches)),
            "you take the arithmetic mean of the four precisions. It is the geometric mean: the "
            "fourth root of their product.",
        ),
        Mistake(
            "single words only",
            lambda h, r: 100 * _short(h, r) * _precisions(h, r, clipped_matches)[0],
            "that is the precision of single words. There are four: for runs of 1, 2, 3 and 4.",
        ),
        Mistake(
            "recall",
            lambda h, r: corpus_bleu(r, h),
            "translation and reference are exchanged. The totals are the runs of the translation.",
        ),
        Mistake(
            "a share",
            lambda h, r: corpus_bleu(h, r) / 100,
            "right up to a factor: you return a share. Scores are printed in percent.",
        ),
        Mistake(
            "no limit to the penalty",
            lambda h, r: _geometric(h, r) * _unlimited(h, r),
            "translations longer than their references get a bonus. The brevity penalty is 1 at "
            "most.",
        ),
        Mistake(
            "penalty turned over",
            lambda h, r: _geometric(h, r) / _short(h, r),
            "you divide by the brevity penalty, so that short translations gain. Multiply.",
        ),
        Mistake(
            "lengths of the penalty exchanged",
            lambda h, r: _geometric(h, r) * _short(r, h),
            "the lengths in your brevity penalty are exchanged: long translations are punished, "
            "short ones are not.",
        ),
        Mistake(
            "no root",
            lambda h, r: 100 * _short(h, r) * prod(_precisions(h, r, clipped_matches)),
            "the fourth root is missing: you multiply the four precisions as they are.",
        ),
        Mistake(
            "up to runs of three",
            lambda h, r: (
                100 * _short(h, r) * prod(_precisions(h, r, clipped_matches)[:3]) ** (1 / 3)
            ),
            "you take runs of 1, 2 and 3 words. BLEU goes up to 4.",
        ),
        Mistake(
            "totals of the reference",
            lambda h, r: _short(h, r) * 100 * prod(_recalls(h, r)) ** 0.25,
            "you divide the matches by the runs of the *reference*. A precision divides by those "
            "of the translation.",
        ),
        Mistake(
            "lower-cased",
            lambda h, r: corpus_bleu([lowered(s) for s in h], [lowered(s) for s in r]),
            "capital letters make no difference in your score. `The` and `the` are two words.",
        ),
        Mistake(
            "runs joined to one text",
            lambda h, r: _short(h, r) * _geometric(h, r, joined_runs),
            "you join the words of a run to one text, so that `no` + `where` and `now` + `here` "
            "are the same. Keep the run as a tuple of words.",
        ),
        Mistake(
            "letters",
            lambda h, r: corpus_bleu(_letters(h), _letters(r)),
            "you count runs of letters. The sentences are lists of words; do not join them.",
        ),
        Mistake(
            "totals below zero",
            lambda h, r: _short(h, r) * _geometric(h, r, least=-3),
            "a sentence of m words counts m − n + 1 runs in your totals, and that is below 0 for "
            "short ones. A sentence shorter than n has no runs: count 0.",
        ),
    ],
    symptoms=[
        # a single sentence of two words has no runs of four: there such code divides by 0
        Symptom("mean over sentences, in one case", _is_mean_of_sentences, _MEAN_OF_SENTENCES),
    ],
    right="`bleu` is right, for seven small corpora",
)


# Exercise: a cost turned back into time ----------------------------------------------------------

_FLOPS = 3.3e18
_DAY = 24 * 3600


def _days(gpu: str, n_gpus: int = 1, seconds: int = _DAY) -> float:
    return _FLOPS / (n_gpus * SUSTAINED_TFLOPS[gpu] * 1e12 * seconds)


days_on_one = ValueCheck(
    name="days on one K80",
    expected=_days("K80"),
    tolerance=0.01,
    mistakes=[
        WrongValue(_days("K80", 8), "that is eight K80s, side by side. The question is about one."),
        WrongValue(
            _days("P100"), "that is one P100, at 9.5 TFLOP/s. A K80 sustains 2.8 in the estimate."
        ),
        WrongValue(_days("P100", 8), "that is the paper's own machine: eight P100."),
        WrongValue(
            _days("K80", seconds=3600), "that is hours, if you count them. Divide by 24 for days."
        ),
        WrongValue(_days("K80", seconds=1), "that is seconds. A day has 24 · 3600 of them."),
    ],
    right="right: two weeks on one K80, for what eight P100 do in half a day",
)
