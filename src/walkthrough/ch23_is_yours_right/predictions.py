"""What the reader guesses before an experiment of the chapter shows it."""

from walkthrough.page.prediction import Choice, Prediction

merge = Prediction(
    "23-merge",
    "Three copies of one model learn to copy six words. One merges its heads without the exchange. "
    "What is its loss beside that of the right model?",
    (
        Choice(
            "Higher: it mixes numbers of different words",
            "It mixes them, and some of them are the words that it has to write.",
        ),
        Choice(
            "About the same: the matrix behind the merge sorts it out",
            "It could, and then the loss would be no better than the right model's.",
        ),
        Choice(
            "Far lower",
            "The mixture holds words that come later, and to copy them is simple. In use they do "
            "not exist yet.",
            right=True,
        ),
    ),
)
