"""The checks of chapter 16, translation (§6.1): matches, brevity, BLEU of a corpus, a cost.

Each mistake is a whole wrong implementation: the check runs it on the same inputs as the reader's
function and names it when the results agree.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from math import exp, isclose, prod
from statistics import fmean

from transformer.analysis.bleu import brevity_penalty, clipped_matches, corpus_bleu, ngram_counts
from transformer.analysis.cost import SUSTAINED_TFLOPS
from walkthrough.checking.base import Arguments, Case, Check, Mistake, Symptom, fixed
from walkthrough.checking.values import ValueCheck, WrongValue

__all__ = ["bleu", "days_on_one", "matches", "penalty"]

Tokens = Sequence[str]
Corpus = Sequence[Tokens]
Count = Callable[[Tokens, Tokens, int], float]


# Exercise: matches that are used up --------------------------------------------------------------


def _unclipped(hypothesis: Tokens, reference: Tokens, n: int) -> int:
    known = ngram_counts(reference, n)
    return sum(count for gram, count in ngram_counts(hypothesis, n).items() if gram in known)


def _of_one_word(function: Count) -> Count:
    return lambda hypothesis, reference, _n: function(hypothesis, reference, 1)


def _in_any_order(hypothesis: Tokens, reference: Tokens, n: int) -> int:
    def bags(tokens: Tokens) -> Counter[tuple[str, ...]]:
        return Counter(tuple(sorted(tokens[i : i + n])) for i in range(len(tokens) - n + 1))

    return (bags(hypothesis) & bags(reference)).total()


def _one_short(hypothesis: Tokens, reference: Tokens, n: int) -> int:
    def counts(tokens: Tokens) -> Counter[tuple[str, ...]]:
        return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n))

    return (counts(hypothesis) & counts(reference)).total()


def _at_the_same_place(hypothesis: Tokens, reference: Tokens, n: int) -> int:
    length = min(len(hypothesis), len(reference))
    return sum(hypothesis[i : i + n] == reference[i : i + n] for i in range(length - n + 1))


def _matches_case(label: str, hypothesis: str, reference: str, n: int) -> Case:
    return fixed(label, hypothesis.split(), reference.split(), n)


matches = Check(
    name="matches",
    reference=clipped_matches,
    tolerance=0.0,
    cases=[
        _matches_case(
            "single words, one of them repeated", "the the the cat .", "the cat sees the dog .", 1
        ),
        _matches_case(
            "pairs, two of them repeated",
            "a cat and a cat and a dog .",
            "and a cat and a dog runs .",
            2,
        ),
        _matches_case("the words in another order", "Africa visits Jane", "Jane visits Africa", 2),
        _matches_case("runs of three, a word in front", "so Jane sees a dog", "Jane sees a dog", 3),
        _matches_case("a sentence shorter than n", "Jane sleeps", "Jane sleeps", 4),
        _matches_case("a word that the other repeats", "the cat .", "the cat sees the dog .", 1),
    ],
    mistakes=[
        Mistake(
            "unclipped",
            _unclipped,
            "a run of words counts as often as the translation has it. The reference has it fewer "
            "times: count the smaller of the two numbers.",
        ),
        Mistake(
            "counted in the reference",
            lambda hypothesis, reference, n: _unclipped(reference, hypothesis, n),
            "a run of words counts as often as the reference has it. The translation has it fewer "
            "times: count the smaller of the two numbers.",
        ),
        Mistake(
            "different runs",
            lambda hypothesis, reference, n: len(
                set(ngram_counts(hypothesis, n)) & set(ngram_counts(reference, n))
            ),
            "every run counts once, however often both sides have it. If both have it twice, it "
            "counts twice: a set forgets this, a `Counter` does not.",
        ),
        Mistake(
            "always single words",
            _of_one_word(clipped_matches),
            "your count does not depend on n: it counts single words.",
        ),
        Mistake(
            "in any order",
            _in_any_order,
            "the words inside a run may stand in any order in your count. They must not: order is "
            "what the longer runs are for.",
        ),
        Mistake(
            "the last run left out",
            _one_short,
            "the last run of each sentence is missing. A sentence of m words has m − n + 1 runs "
            "of n words.",
        ),
        Mistake(
            "at the same place",
            _at_the_same_place,
            "a run counts only where both sentences have it at the same place. One word more in "
            "front, and nothing matches. Places do not matter.",
        ),
    ],
    right="`matches` is right: clipped, in order, for any n",
)


# Exercise: the brevity penalty -------------------------------------------------------------------


def _penalty(hypothesis_lengths: Sequence[int], reference_lengths: Sequence[int]) -> float:
    return brevity_penalty(sum(hypothesis_lengths), sum(reference_lengths))


def _each(hypothesis_lengths: Sequence[int], reference_lengths: Sequence[int]) -> float:
    return fmean(
        brevity_penalty(h, r) for h, r in zip(hypothesis_lengths, reference_lengths, strict=True)
    )


penalty = Check(
    name="penalty",
    reference=_penalty,
    cases=[
        fixed("one sentence too short, one too long", [6, 14], [10, 10]),
        fixed("all too short", [6, 9, 4], [10, 10, 5]),
        fixed("all too long", [12, 13], [10, 11]),
        fixed("more short than long", [5, 12, 3], [10, 10, 10]),
    ],
    mistakes=[
        Mistake(
            "sentence by sentence",
            _each,
            "you take a penalty for each sentence and then the mean. A short sentence may be made "
            "up for by a long one: add the lengths first, then compare.",
        ),
        Mistake(
            "the plain ratio",
            lambda h, r: min(1.0, sum(h) / sum(r)),
            "that is the ratio of the lengths. The penalty is exp(1 − reference / translation), "
            "which falls faster.",
        ),
        Mistake(
            "exchanged",
            lambda h, r: brevity_penalty(sum(r), sum(h)),
            "the two lengths are exchanged: long translations are punished, short ones are not. "
            "The exponent is 1 − r / c, with c for the candidate, that is the translation.",
        ),
        Mistake(
            "no limit",
            lambda h, r: exp(1 - sum(r) / sum(h)),
            "long translations get a bonus: the value is above 1. The penalty is 1 at most.",
        ),
    ],
    right="the penalty is right: over the corpus, and never above 1",
)


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
            lambda h, r: _short(h, r) * _geometric(h, r, _unclipped),
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
    right="`bleu` is right, for four small corpora",
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
