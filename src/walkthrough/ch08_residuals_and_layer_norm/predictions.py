"""What the reader guesses before an experiment of the chapter shows it."""

from walkthrough.page.prediction import Choice, Prediction

without = Prediction(
    "08-without",
    "Two models are trained without any residual connection. One has four layers in each stack, "
    "the other a single one. Which of them learns to copy?",
    (
        Choice(
            "Neither: each sub-layer needs its own",
            "The paper gives each its own, and still: how much is lost in a stack of one layer?",
        ),
        Choice(
            "The single layer",
            "Five pairs of runs do not tell it from one with the addition.",
            right=True,
        ),
        Choice(
            "Both, the deep one later",
            "The deep one hardly begins: see below how far it comes, and in how many updates.",
        ),
    ),
)
