"""What the reader guesses before an experiment of the chapter shows it."""

from walkthrough.lab import compare
from walkthrough.page.prediction import Choice, Prediction

one_head = Prediction(
    "04-one-head",
    "One head, a linear reader, two questions: which word stands before, and which after? What "
    "will 400 updates reach?",
    (
        Choice(
            "One answer right, the other wrong",
            "So it is in every run of 400 updates. *Why* the other is wrong is the next question.",
            when=lambda worse: worse.levels[1] < 0.25,
        ),
        Choice(
            "Both right, as with two heads, because there are as many parameters",
            "The parameters are equal in number. But one head gives the reader one mixture, in "
            "which the places have to be told apart. That takes longer.",
            when=lambda worse: worse.levels[1] > 0.75,
        ),
        Choice(
            "Both half right",
            "That would be guessing between two neighbours, twice. For one of the questions "
            "training finds a way round it.",
            when=lambda worse: 0.25 <= worse.levels[1] <= 0.75,
        ),
    ),
    given=(
        compare("04-two-words", "two heads", "one head", figure="new/worse_accuracy", length=400),
    ),
)

its_weights = Prediction(
    "04-its-weights",
    "After 400 updates this one head with the linear reader fails one of its two questions. Where "
    "did its weights go in most runs?",
    (
        Choice(
            "Nearly all to the neighbour that is named right",
            "So it is in two runs of ten. In most, the other word is not lost.",
        ),
        Choice(
            "To both neighbours, about half each",
            "So it is in seven runs of ten. Both words arrive, and after 400 updates the reader "
            "does not tell them apart.",
            right=True,
        ),
        Choice(
            "Two thirds to one neighbour, a third to the other",
            "That would keep the order, in the amounts. It happens in one run of ten.",
        ),
        Choice(
            "To all eight words, a little each",
            "It has found the neighbours. Little is left for the others.",
        ),
    ),
)
