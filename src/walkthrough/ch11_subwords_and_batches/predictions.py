"""What the reader guesses before an experiment of the chapter shows it."""

from walkthrough.page.prediction import Choice, Prediction

unknown = Prediction(
    "11-unknown",
    "A list of words from 300 pairs. In the test, sentences have seven or eight words, and 4 % of "
    "the words are unknown. How many of the sentences have an unknown word?",
    (
        Choice(
            "About 4 %",
            "That is the share of words. A sentence is spoiled by any one of its words.",
        ),
        Choice(
            "About a tenth",
            "Each of seven or eight words may be the one. Unknown words would have to huddle "
            "together.",
        ),
        Choice(
            "About a quarter",
            "Seven or eight words with 4 % each: few unknown words spoil many sentences.",
            right=True,
        ),
        Choice("About half", "For that, one word in eleven would have to be unknown."),
    ),
)

sorted_pairs = Prediction(
    "11-sorted-pairs",
    "Batches of 32 pairs at random waste 43 % of their positions on padding. What is left of that "
    "when the pairs are sorted by the length of the English side?",
    (
        Choice(
            "About 40 %: a batch still holds 32 pairs",
            "How many pairs it holds does not matter. What matters is how unlike their lengths "
            "are.",
        ),
        Choice(
            "About 15 %",
            "English rows of a batch are now about equally long. Their French sides still differ a "
            "little.",
            right=True,
        ),
        Choice("None", "Only one side is sorted. The other follows, but not exactly."),
    ),
)
