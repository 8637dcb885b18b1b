"""What the reader guesses before an experiment of the chapter shows it."""

from walkthrough.lab import compare
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
            when=lambda right: right > 0.8,
        ),
        Choice(
            "About half",
            "Over the whole sentence, perhaps, because the first ten words still go well.",
            when=lambda right: 0.3 < right < 0.7,
        ),
        Choice(
            "Hardly any, although the encoding goes on",
            "The model never met these codes, and does not know what to do with them.",
            when=lambda right: right < 0.1,
        ),
    ),
    given=(compare("07-order", "sinusoidal", "none", figure="20 words, 13th on").levels[0],),
)

other_table = Prediction(
    "07-other-table",
    "A model was trained with the paper's table and is handed another one. Sentences have ten "
    "words. Which table does it put up with?",
    (
        Choice(
            "*Concatenated*, because all dot products are kept",
            "The trained matrices expect each column in its own place. Less than half of the "
            "answers are right.",
        ),
        Choice(
            "*From 1*, because its rows are most alike",
            "They are alike because they are the neighbours' rows, and neighbours are what this "
            "task asks for.",
        ),
        Choice(
            "None of the three", "There is one that hardly changes anything over ten positions."
        ),
        Choice(
            "*Base 1000*, whose dot products are others",
            "In ten positions its slow hands hardly move, and neither do the paper's.",
            right=True,
        ),
    ),
)
