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

last_gradient = Prediction(
    "08-last-gradient",
    "Before training, in models of 2 to 12 layers: how does the gradient of the *last* layer's "
    "weights change with the depth?",
    (
        Choice(
            "It does not: the last layer is next to the loss, whatever lies below",
            "So it is in post-norm. In pre-norm, a larger stream arrives at the last norm.",
        ),
        Choice(
            "It shrinks in pre-norm, and stays in post-norm",
            "The pre-norm stream grows with each layer, and the last norm divides by its size.",
            right=True,
        ),
        Choice(
            "It grows in both",
            "The norm before the output keeps the states at one size.",
        ),
    ),
)
