"""What the reader guesses before an experiment of the chapter shows it."""

from walkthrough.page.prediction import Choice, Prediction

no_warmup = Prediction(
    "12-no-warmup",
    "At the highest rate of 0.005 leaving out the warm-up makes no difference that ten seeds can "
    "see. What does it do at *half* that rate?",
    (
        Choice(
            "No difference there either",
            "At half the rate all ten runs without a warm-up are earlier.",
        ),
        Choice(
            "It makes the runs later",
            "The rise costs time where the rate is low enough to start with.",
        ),
        Choice(
            "It makes the runs earlier",
            "Low rates in the first updates are lost time where a full step does no harm.",
            right=True,
        ),
    ),
)
