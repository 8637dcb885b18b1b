"""What the reader guesses before an experiment of the chapter shows it."""

from walkthrough.page.prediction import Choice, Prediction

base_french = Prediction(
    "16-base-french",
    "On English–French base reaches 38.1. How many of the earlier systems that Table 2 lists for "
    "this pair are below it?",
    (
        Choice(
            "All of them, as the text says of base", "The text says so, and means English–German."
        ),
        Choice(
            "All single models, no ensemble",
            "Not even the lower score of the big model fits this: 41.0 is above one of the three "
            "ensembles.",
        ),
        Choice("About half", "Base is cheap, and on this pair it shows."),
        Choice(
            "None: base is the last of all",
            "38.1 is the lowest score of the column, for the lowest cost.",
            right=True,
        ),
    ),
)

lower_cased = Prediction(
    "16-lower-cased",
    "The same 300 outputs, lower-cased, are scored against references as written. What happens to "
    "BLEU?",
    (
        Choice(
            "Nothing: no word is wrong", "To BLEU a word with another first letter is another word."
        ),
        Choice(
            "It falls by a point or two, since few words have a capital",
            "Nearly every sentence begins with one, and each takes all the runs with it that it "
            "belongs to.",
        ),
        Choice(
            "It falls by more than ten points",
            "Each capital breaks a word and all the runs with it.",
            right=True,
        ),
    ),
)
