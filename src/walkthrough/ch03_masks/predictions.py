"""What the reader guesses before an experiment of the chapter shows it."""

from walkthrough.page.prediction import Choice, Prediction

one_too_far = Prediction(
    "03-one-too-far",
    "The triangle is open one diagonal too far. In a model of four layers, how many words ahead "
    "does a prediction see?",
    (
        Choice(
            "None, because the input is shifted",
            "The shift has made the next word the answer. It is this word that the mask opens.",
        ),
        Choice(
            "1, as the mask says",
            "In one layer, yes. The second layer reads positions that have looked ahead already.",
        ),
        Choice(
            "4, one for each layer",
            "Each layer looks one word further than the layer below.",
            right=True,
        ),
        Choice("As many as there are", "Each layer adds one word and no more."),
    ),
)

strict = Prediction(
    "03-strict",
    "The decoder reads the six words that it must predict, and the strict mask closes the "
    "diagonal. How many of the six answers still reach their own prediction?",
    (
        Choice(
            "All six",
            "The word takes the way past the attention, where no mask stands.",
            right=True,
        ),
        Choice(
            "None",
            "No position may look at itself, and still the answers arrive. Attention is not the "
            "only way up.",
        ),
        Choice(
            "Five, all but the first",
            "The first position has nothing to look at. But what it reads goes past the attention "
            "as well.",
        ),
    ),
)
