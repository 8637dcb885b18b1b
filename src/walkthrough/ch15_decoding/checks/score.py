"""The check of chapter 15 on the score of a hypothesis (§6.1)."""

import math

from transformer.inference.beam import length_penalty
from walkthrough.checking.base import (
    Check,
    Mistake,
    Symptom,
    fixed,
)

score = Check(
    name="the score with length penalty",
    reference=lambda log_prob, length, alpha: log_prob / length_penalty(length, alpha),
    cases=[
        fixed("the paper's α, ten tokens", -3.0, 10, 0.6),
        fixed("α = 0", -3.0, 7, 0.0),
        fixed("the paper's α, four tokens", -2.5, 4, 0.6),
        fixed("the end token alone", -2.0, 1, 0.6),
        fixed("a large α and a long output", -9.0, 31, 1.5),
        fixed("a small α, twelve tokens", -4.0, 12, 0.3),
    ],
    mistakes=[
        Mistake(
            "multiplied",
            lambda log_prob, length, alpha: log_prob * length_penalty(length, alpha),
            "you multiply by the penalty. Log probabilities are negative: multiplying makes long "
            "outputs worse still. Divide.",
        ),
        Mistake(
            "the plain length",
            lambda log_prob, length, alpha: log_prob / length**alpha,
            "you divide by length^α. That is another penalty, also in use. The one of this paper "
            "adds 5 to the length and divides by 6 first, so that it is gentler for short outputs.",
        ),
        Mistake(
            "not divided by 6",
            lambda log_prob, length, alpha: log_prob / (5 + length) ** alpha,
            "the division by 6 is missing, so a length of 1 does not give a penalty of 1. The "
            "order of outputs is the same, the scores are not.",
        ),
        Mistake(
            "6 without α",
            lambda log_prob, length, alpha: log_prob / ((5 + length) ** alpha / 6),
            "only 5 + length is raised to the power α. The 6 is as well: with α = 0 nothing may "
            "change.",
        ),
        Mistake(
            "α as a factor",
            lambda log_prob, length, alpha: log_prob / max(alpha * (5 + length) / 6, 1e-9),
            "α is a factor in your formula. It is the exponent: with α = 0 nothing may change.",
        ),
        Mistake(
            "no α",
            lambda log_prob, length, alpha: log_prob / ((5 + length) / 6),
            "your penalty does not depend on α: raise it to the power α.",
        ),
        Mistake(
            "the length alone divided",
            lambda log_prob, length, alpha: log_prob / (5 + length / 6) ** alpha,
            "only the length is divided by 6; the bracket is (5 + length) / 6.",
        ),
        Mistake(
            "the end token counted twice",
            lambda log_prob, length, alpha: log_prob / length_penalty(length + 1, alpha),
            "you add 1 to the length: `length` counts the end token already.",
        ),
        Mistake(
            "the mean",
            lambda log_prob, length, alpha: log_prob / length,
            "this is the mean log probability of a word. Divide by ((5 + length) / 6)^α instead.",
        ),
        Mistake(
            "subtracted",
            lambda log_prob, length, alpha: log_prob - length_penalty(length, alpha),
            "you subtract the penalty. Log P is divided by it.",
        ),
        Mistake(
            "divided and rounded down",
            lambda log_prob, length, alpha: log_prob / ((5 + length) // 6) ** alpha,
            "`//` rounds (5 + length) / 6 down, so that lengths of 7 and 12 get one penalty. "
            "Divide with `/`.",
        ),
        Mistake(
            "rounded",
            lambda log_prob, length, alpha: log_prob / round((5 + length) / 6) ** alpha,
            "(5 + length) / 6 is rounded to a whole number in your formula. Leave the fraction.",
        ),
        Mistake(
            "α fixed",
            lambda log_prob, length, alpha: log_prob / length_penalty(length, 0.6),
            "your α is always 0.6. Use the one that is handed over.",
        ),
        Mistake(
            "the sign turned",
            lambda log_prob, length, alpha: -log_prob / length_penalty(length, alpha),
            "the sign is turned: log P stays negative, so the best score is the one nearest to 0.",
        ),
        Mistake(
            "of the probability",
            lambda log_prob, length, alpha: math.exp(log_prob) / length_penalty(length, alpha),
            "you divide the probability, exp(log P). The paper divides log P itself.",
        ),
        Mistake(
            "the penalty alone",
            lambda log_prob, length, alpha: length_penalty(length, alpha),
            "this is the penalty alone: divide log P by it.",
        ),
        Mistake(
            "the end token not counted",
            lambda log_prob, length, alpha: log_prob / length_penalty(length - 1, alpha),
            "you take 1 from the length. It counts the end token, and so does the formula.",
        ),
        Mistake(
            "5 and 6 exchanged",
            lambda log_prob, length, alpha: log_prob / ((6 + length) / 5) ** alpha,
            "5 and 6 have changed places: the bracket is (5 + length) / 6, so that a length of 1 "
            "gives 1.",
        ),
        Mistake(
            "1 + length",
            lambda log_prob, length, alpha: log_prob / ((1 + length) / 6) ** alpha,
            "the bracket is (5 + length) / 6; yours starts from 1 + length, so that a length of 1 "
            "does not give 1.",
        ),
        Mistake(
            "5 times the length",
            lambda log_prob, length, alpha: log_prob / (5 * length / 6) ** alpha,
            "you multiply the length by 5. It is added to 5.",
        ),
        Mistake(
            "the power around log P, too",
            lambda log_prob, length, alpha: -((-log_prob / length_penalty(length, 1.0)) ** alpha),
            "log P is raised to the power α as well. The power belongs to the bracket "
            "(5 + length) / 6 alone.",
        ),
    ],
    symptoms=[
        Symptom(
            "the power of a negative number",
            lambda result, _expected, _given: isinstance(result, complex),
            "your result is a complex number: the power is taken of log P too, which is negative. "
            "It belongs to the bracket (5 + length) / 6 alone.",
        ),
        Symptom(
            "α = 0 changes something",
            lambda result, expected, given: (
                given.positional[2] == 0 and not math.isclose(result, expected)
            ),
            "with α = 0 the score is log P itself, whatever the length, because any number to the "
            "power 0 is 1. Yours is not: what does α stand on?",
        ),
    ],
)
