"""What the reader guesses before an experiment of the chapter shows it."""

from walkthrough.page.prediction import Choice, Prediction

lstm_start = Prediction(
    "01-lstm-start",
    "An LSTM as PyTorch starts it, with all biases near 0 and before any training. How does the "
    "gradient that comes back from 100 steps away compare with a plain RNN's?",
    (
        Choice(
            "It vanishes as well: each step takes its half",
            "Biases near 0 make gates near ½, and ½ multiplied by itself a hundred times is next "
            "to nothing.",
            right=True,
        ),
        Choice(
            "It hardly falls: no matrix stands in the cell's way",
            "No matrix does. But the way leads through the forget gate. Where does a gate start "
            "whose bias is 0?",
        ),
        Choice(
            "It falls, but like 1/*n*",
            "That is the law of an average over *n* words. In a chain each step brings one more "
            "factor.",
        ),
    ),
)

birds = Prediction(
    "01-birds",
    "The sentence has *ces oiseaux noirs*, in English *these black birds*. The encoder read from "
    "left to right. Where does the row of *birds* put most of its weight?",
    (
        Choice(
            "On *oiseaux*",
            "So a dictionary would say. But the network looks at states, and a state is more than "
            "its word.",
        ),
        Choice(
            "On *noirs*",
            "The state at *noirs* was made right after *oiseaux* and holds both words.",
            right=True,
        ),
        Choice(
            "On *oiseaux* and *noirs*, half each",
            "It puts nearly all of its weight on one of them.",
        ),
        Choice(
            "On *ces*, which announces a plural noun",
            "The state at *ces* was made before *oiseaux* was read.",
        ),
    ),
)
