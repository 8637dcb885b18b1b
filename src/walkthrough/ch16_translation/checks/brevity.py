"""The check of chapter 16 on the brevity penalty of BLEU (§6.1)."""

from collections.abc import Sequence
from math import exp, prod
from statistics import fmean

from transformer.analysis.bleu import brevity_penalty
from walkthrough.checking.base import Check, Mistake, Symptom, fixed


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
            "product over sentences",
            lambda h, r: prod(brevity_penalty(one, other) for one, other in zip(h, r, strict=True)),
            "you multiply the penalties of the sentences. There is one penalty, for the corpus: "
            "add the lengths first.",
        ),
        Mistake(
            "mean of the ratios",
            lambda h, r: min(1.0, exp(1 - fmean(b / a for a, b in zip(h, r, strict=True)))),
            "you take the mean of the sentences' ratios r / c. Add the lengths first, then divide "
            "once.",
        ),
        Mistake(
            "the sign turned",
            lambda h, r: min(1.0, exp(sum(r) / sum(h) - 1)),
            "the sign of the exponent is turned: it is 1 − r / c, below 0 for short translations.",
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
        Mistake(
            "always 1",
            lambda h, r: 1.0,
            "your penalty is 1 for every corpus tried. Are the lengths added up (`sum`, not "
            "`len`), and is the ratio left as it is (`/`, not `//`)?",
        ),
        Mistake(
            "rounded down",
            lambda h, r: min(1.0, exp(1 - sum(r) // sum(h))),
            "`//` rounds r / c down, so that a corpus that is a little too short is not punished. "
            "Divide with `/`.",
        ),
        Mistake(
            "another base, 10",
            lambda h, r: min(1.0, 10 ** (1 - sum(r) / sum(h))),
            "the base of your power is 10. The penalty is a power of e: `math.exp`.",
        ),
        Mistake(
            "another base, 2",
            lambda h, r: min(1.0, 2 ** (1 - sum(r) / sum(h))),
            "the base of your power is 2. The penalty is a power of e: `math.exp`.",
        ),
        Mistake(
            "the difference of the lengths",
            lambda h, r: min(1.0, exp(sum(h) - sum(r))),
            "the exponent is the difference of the lengths, c − r; it is 1 − r / c. The penalty "
            "depends on their ratio.",
        ),
        Mistake(
            "only sentences that are too short",
            lambda h, r: min(
                1.0, exp(1 - sum(r) / sum(min(a, b) for a, b in zip(h, r, strict=True)))
            ),
            "words that a translation has too many do not count in your sum. In the whole corpus "
            "they make up for words that are missing elsewhere.",
        ),
        Mistake(
            "the worst sentence",
            lambda h, r: min(brevity_penalty(a, b) for a, b in zip(h, r, strict=True)),
            "this is the penalty of the sentence that is worst. There is one penalty, for the "
            "corpus: add the lengths first.",
        ),
        Mistake(
            "the longest sentences",
            lambda h, r: brevity_penalty(max(h), max(r)),
            "you compare the longest translation with the longest reference. Add all lengths.",
        ),
        Mistake(
            "the first sentence",
            lambda h, r: brevity_penalty(h[0], r[0]),
            "this is the penalty of the first sentence alone. Add the lengths of all.",
        ),
        Mistake(
            "the limit reached at equal lengths",
            lambda h, r: 0.0 if sum(h) == sum(r) else brevity_penalty(sum(h), sum(r)),
            "for equal lengths your function gives 0. There r / c is 1, and exp(1 − 1) is 1.",
        ),
    ],
    symptoms=[
        Symptom(
            "a penalty for each sentence",
            lambda result, _expected, _given: isinstance(result, (list, tuple)),
            "you return a penalty for each sentence. There is one, for the corpus: add the "
            "lengths first.",
        ),
    ],
    right="the penalty is right: over the corpus, and never above 1",
)
