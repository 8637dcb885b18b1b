"""What the reader guesses before an experiment of the chapter shows it."""

from walkthrough.page.prediction import Choice, Prediction

zero_score = Prediction(
    "02-zero-score",
    "*visits* scores *Jane* with 2, *Africa* with 1 and the other words with 0. How much weight "
    "do the words with a score of 0 get?",
    (
        Choice("None", "A score of 0 becomes e⁰ = 1, which is a share of the whole."),
        Choice("A little less than a tenth each", "e⁰ is 1, and the total is 13.", right=True),
        Choice(
            "About as much as *Africa*",
            "One more in the score is e times the weight: *Africa* gets 2.7 times as much.",
        ),
    ),
)

typical_score = Prediction(
    "02-typical-score",
    "A query and a key have 64 components, all drawn with mean 0 and variance 1. How large is "
    "their dot product, typically?",
    (
        Choice(
            "About 1: what is positive and what is negative cancels",
            "That is so for the mean, which is 0. The spread grows with every term.",
        ),
        Choice("About 8", "64 terms of variance 1 add up to variance 64, and √64 = 8.", right=True),
        Choice("About 64", "64 is the variance. A typical size is its root."),
    ),
)
