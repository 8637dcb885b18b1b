"""What the reader guesses before an experiment of the chapter shows it."""

from walkthrough.page.prediction import Choice, Prediction

beyond = Prediction(
    "07-beyond",
    "A model with sinusoids has seen sentences of ten words at most. Now it gets 20. How many of "
    "its answers from the 13th word on are right?",
    (
        Choice(
            "Nearly all, because the encoding goes on",
            "It does, and one matrix would serve all positions. Training on ten had no reason to "
            "prefer it.",
        ),
        Choice(
            "About half",
            "Over the whole sentence, perhaps, because the first ten words still go well.",
        ),
        Choice(
            "Hardly any, although the encoding goes on",
            "The model never met these codes, and does not know what to do with them.",
            right=True,
        ),
    ),
)
