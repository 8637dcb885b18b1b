"""The check of chapter 15 on the score of a hypothesis (§6.1)."""

from transformer.inference.beam import length_penalty
from walkthrough.checking import (
    Check,
    Mistake,
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
            "no α",
            lambda log_prob, length, alpha: log_prob / ((5 + length) / 6),
            "your penalty does not depend on α: raise it to the power α.",
        ),
    ],
)
