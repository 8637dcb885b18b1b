"""What the reader guesses before an experiment of the chapter shows it."""

from walkthrough.page.prediction import Choice, Prediction

bits = Prediction(
    "21-bits",
    "With how few bits a weight are as many of 1 000 new sentences exact as with 16?",
    (
        Choice("2", "Nothing is left then: a matrix has three values, and nearly all are 0."),
        Choice(
            "4",
            "A matrix has 15 values then. Three bits lose 14 more of the 1 000.",
            right=True,
        ),
        Choice("8", "They are, and with half of that as well."),
        Choice("16", "That is what the page loads, and far more than it needs."),
    ),
)

positions = Prediction(
    "21-positions",
    "200 new sentences are translated without positions. What happens most often?",
    (
        Choice(
            "The same words come in another order",
            "So one would think of a bag of words. It happened in 3 sentences.",
        ),
        Choice("Nothing, the translation stays the same", "That happened in 71 sentences."),
        Choice(
            "A word is lost",
            "In 105 of the 200 a word of the translation is missing.",
            right=True,
        ),
        Choice("It never ends", "That happened in 21 sentences."),
    ),
)

merged = Prediction(
    "21-merged",
    "A graph of `x + 10·a + 100·b` is exported with one tensor as the example for `a` and for "
    "`b`. What does it give for `x = 0`, `a = 1`, `b = 0`?",
    (
        Choice("An error", "No error, and no warning. That is the trouble."),
        Choice("10", "That is right by the formula, and not what the file computes."),
        Choice("110", "It would be if the file listened to `a`. It listens to `b` in both places."),
        Choice("0", "The file reads `b` wherever `a` or `b` stood.", right=True),
    ),
)
