"""What the reader guesses before an experiment of the chapter shows it."""

from walkthrough.page.prediction import Choice, Prediction

one_head = Prediction(
    "04-one-head",
    "One head, a linear reader, two questions: which word stands before, and which after? What "
    "will training reach?",
    (
        Choice(
            "One answer right, the other wrong",
            "So it is with every seed. *Why* the other is wrong is the next question.",
            right=True,
        ),
        Choice(
            "Both right, as with two heads, because there are as many parameters",
            "The parameters are equal in number. But one head gives the reader one mixture, in "
            "which the places have to be told apart.",
        ),
        Choice(
            "Both half right",
            "That would be guessing between two neighbours, twice. For one of the questions "
            "training finds a way round it.",
        ),
    ),
)

its_weights = Prediction(
    "04-its-weights",
    "This one head with the linear reader fails one of its two questions. Where did its weights "
    "go?",
    (
        Choice(
            "Nearly all to the neighbour that is named right",
            "Then the other word would be lost. It is not: look at the last column.",
        ),
        Choice(
            "To both neighbours, about half each",
            "Both words arrive. The reader names only the one with the slightly larger share.",
            right=True,
        ),
        Choice(
            "Two thirds to one neighbour, a third to the other",
            "That would keep the order, in the amounts. A head learns it when another reader "
            "follows.",
        ),
        Choice(
            "To all eight words, a little each",
            "It has found the neighbours. Little is left for the others.",
        ),
    ),
)

together = Prediction(
    "04-together",
    "Sixteen of the 24 heads are taken away at once, those first that cost least alone. What does "
    "it cost, compared with the sum of their single prices?",
    (
        Choice(
            "Less than the sum",
            "That would be so if heads spoiled each other's work. Here the price of many together "
            "is higher than their single prices say.",
        ),
        Choice("The sum", "That would be so if each head did its own work, whoever else is there."),
        Choice(
            "More than the sum",
            "As if heads stood in for each other: one can be spared while another still brings "
            "the word. The cell does not test that.",
            right=True,
        ),
    ),
)
