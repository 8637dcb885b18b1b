"""What the reader guesses before an experiment of the chapter shows it."""

from walkthrough.page.prediction import Choice, Prediction

name = Prediction(
    "{{number}}-name",
    "What will the experiment show?",
    (
        Choice("One thing", "It would, if … ."),
        Choice("Another", "It does: … .", right=True),
        Choice("Neither", "That would need … ."),
    ),
)
