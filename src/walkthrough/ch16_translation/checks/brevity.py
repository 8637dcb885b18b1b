"""The check of chapter 16 on the brevity penalty of BLEU (§6.1)."""

from collections.abc import Sequence
from math import exp
from statistics import fmean

from transformer.analysis.bleu import brevity_penalty
from walkthrough.checking import Check, Mistake, fixed


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
        fixed("much too short", [2, 3], [10, 9]),
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
        Mistake(
            "the larger of the two",
            lambda h, r: max(1.0, exp(1 - sum(r) / sum(h))),
            "long translations get more than 1, and short ones are not punished: of 1 and "
            "exp(1 − r / c), the penalty is the *smaller* one.",
        ),
        Mistake(
            "the 1 forgotten",
            lambda h, r: min(1.0, exp(-sum(r) / sum(h))),
            "the exponent is −r / c in your function; it is 1 − r / c, which is 0 where the "
            "lengths are equal.",
        ),
    ],
    right="the penalty is right: over the corpus, and never above 1",
)
