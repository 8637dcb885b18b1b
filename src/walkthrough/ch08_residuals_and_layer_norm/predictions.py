"""What the reader guesses before an experiment of the chapter shows it."""

from walkthrough.lab import compare
from walkthrough.page.prediction import Choice, Prediction

without = Prediction(
    "08-without",
    "Two models are trained without any residual connection. One has four layers in each stack, "
    "the other a single one. Which of them learns to copy?",
    (
        Choice(
            "Neither: each sub-layer needs its own",
            "The paper gives each its own, and still: how much is lost in a stack of one layer?",
            when=lambda four, one: four.levels[0] > 2 and one.levels[0] > 2,
        ),
        Choice(
            "The single layer",
            "Five pairs of runs do not tell it from one with the addition.",
            when=lambda four, one: four.verdict == "worse" and one.verdict == "not told apart",
        ),
        Choice(
            "Both, the deep one later",
            "The deep one hardly begins: see below how far it comes, and in how many updates.",
            when=lambda four, one: four.levels[0] < 0.5 and one.levels[0] < 0.5,
        ),
    ),
    given=(
        compare("08-residual", "4 layers, no residual", "4 layers", figure="new/-/loss"),
        compare("08-residual", "1 layer, no residual", "1 layer", figure="new/-/loss"),
    ),
)
