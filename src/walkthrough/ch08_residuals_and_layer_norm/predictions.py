"""What the reader guesses before an experiment of the chapter shows it."""

from walkthrough.page.prediction import Choice, Prediction

without = Prediction(
    "08-without",
    "Two models are trained without any residual connection. One has four layers in each stack, "
    "the other a single one. Which of them learns to copy?",
    (
        Choice(
            "Neither: each sub-layer needs its own",
            "A stack of one layer is not deep. What does a word lose in two sub-layers?",
        ),
        Choice("The single layer only", "What one attention loses can still be told.", right=True),
        Choice(
            "Both, the deep one later",
            "Depth is what a word cannot bear without a residual: longer training did not help.",
        ),
    ),
)
