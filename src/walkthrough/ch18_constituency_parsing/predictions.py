"""What the reader guesses before an experiment of the chapter shows it."""

from walkthrough.page.prediction import Choice, Prediction

free_beam = Prediction(
    "18-free-beam",
    "On shapes that training never had, greedy decoding without rules gives a tree for less than "
    "half of the sentences. What does the paper's beam of 21 do to F1, still without rules?",
    (
        Choice(
            "It rises by ten points or more, since the beam finds what greedy missed",
            "The beam finds outputs that the model holds more probable. They are no more often "
            "trees.",
        ),
        Choice("It stays within a point", "Even that would be something."),
        Choice(
            "It falls by some points",
            "More probable outputs are often known shapes with too few words, and a beam finds "
            "more of those.",
            right=True,
        ),
    ),
)

grammar = Prediction(
    "18-grammar",
    "A grammar whose rules are counted in the same training trees parses the held-out shapes. "
    "Where does its F1 stand?",
    (
        Choice(
            "Below the Transformer without rules",
            "A held-out shape is made of rules that training has seen, most of the time.",
        ),
        Choice(
            "Above greedy decoding with rules, below the beam with rules",
            "It plays at home, but for some sentences it has no rule.",
            right=True,
        ),
        Choice(
            "Above all: the phrasebook was written by a grammar",
            "By one with longer rules. Those that were never counted are missing.",
        ),
    ),
)

one_update = Prediction(
    "18-one-update",
    "A model after a single update decodes with rules. How many of its outputs are trees over the "
    "sentence?",
    (
        Choice("All of them", "The rules close everything else.", right=True),
        Choice("About half, by luck", "Luck has no part in it: look at the rules again."),
        Choice(
            "Hardly any, because it has learned nothing",
            "It has learned nothing, and need not: form comes from the rules.",
        ),
    ),
)
