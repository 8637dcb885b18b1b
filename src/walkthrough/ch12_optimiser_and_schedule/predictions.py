"""What the reader guesses before an experiment of the chapter shows it."""

from walkthrough.lab import compare
from walkthrough.page.prediction import Choice, Prediction

first_step = Prediction(
    "12-first-step",
    "The gradients are 1 and 0.001. How far does Adam move the two weights at the first update?",
    (
        Choice("The loud one a thousand times as far", "So would plain gradient descent."),
        Choice("Both equally far", "Each gradient is divided by its own size.", right=True),
        Choice(
            "The quiet one further",
            "A small gradient is divided by a small size, and what is left is the same.",
        ),
    ),
)

no_warmup = Prediction(
    "12-no-warmup",
    "At the highest rate of 0.005 leaving out the warm-up makes no difference that ten seeds can "
    "see. What does it do at *half* that rate?",
    (
        Choice(
            "No difference there either",
            "At half the rate nine of ten runs without a warm-up are earlier.",
            when=lambda found: found.low <= 0 <= found.high,
        ),
        Choice(
            "It makes the runs later",
            "The rise costs time where the rate is low enough to start with.",
            when=lambda found: found.low > 0,
        ),
        Choice(
            "It makes the runs earlier",
            "Low rates in the first updates are lost time where a full step does no harm.",
            when=lambda found: found.high < 0,
        ),
    ),
    given=(compare("12-sweep", "no warm-up", "baseline", figure="train/updates", rate=0.5),),
)

decay = Prediction(
    "12-decay",
    "A loud weight and a quiet one, gradients that turn round at every update, and Adam with the "
    "*old* decay: λ*w* is added to the gradient. What becomes of the two?",
    (
        Choice(
            "Both shrink alike, because λ is the same",
            "That is what AdamW does, by taking the decay off directly.",
        ),
        Choice(
            "The loud one shrinks more",
            "Its decay is divided by the size of its gradients, which is large.",
        ),
        Choice(
            "The quiet one shrinks more",
            "Its decay is divided by a size that is small.",
            right=True,
        ),
    ),
)
