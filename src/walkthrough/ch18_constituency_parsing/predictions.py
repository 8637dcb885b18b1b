"""What the reader guesses before an experiment of the chapter shows it."""

from walkthrough.lab import frame
from walkthrough.page.prediction import Choice, Prediction

PHRASES = frame("18-phrases").query("arm == 'word, free'").filter(like="held_out/").mean()
"""Scores of the parser of words, decoded freely on shapes that training never had."""
CRAFT, GRAMMARS = frame("18-craft"), frame("18-grammars").set_index("arm")["test/cky/f1"]


def above_the_grammar(way: str) -> bool | None:
    """Whether F1 on real text is above the grammar's with every seed, below with every, or None."""
    above = set(CRAFT[f"test/{way}/f1"] > GRAMMARS["PCFG, words"])
    return above.pop() if len(above) == 1 else None


free_beam = Prediction(
    "18-free-beam",
    "On shapes that training never had, greedy decoding without rules gives a tree for less than "
    "half of the sentences. What does the paper's beam of 21 do to F1, still without rules?",
    (
        Choice(
            "It rises by ten points or more, since the beam finds what greedy missed",
            "The beam finds outputs that the model holds more probable. They are no more often "
            "trees.",
            when=lambda gain: gain >= 10,
        ),
        Choice(
            "It stays within a point",
            "Even that would be something.",
            when=lambda gain: abs(gain) <= 1,
        ),
        Choice(
            "It falls by some points",
            "It finds more probable outputs, and on shapes that are new those are worse trees.",
            when=lambda gain: gain < -1,
        ),
    ),
    given=(PHRASES["held_out/beam21/f1"] - PHRASES["held_out/greedy/f1"],),
)

real_text = Prediction(
    "18-real-text",
    "A Transformer with 2.7 million parameters learns from the same 18 101 sentences as the "
    "grammar. Over all test sentences, where does its F1 stand beside the grammar's?",
    (
        Choice(
            "Below it, with rules or without: 18 101 sentences are too few for such a model",
            "They are enough for most brackets. What free decoding loses is the form.",
            when=lambda free, with_rules: (free, with_rules) == (False, False),
        ),
        Choice(
            "Below it when the model decodes freely, above it with rules",
            "In every one of three seeds.",
            when=lambda free, with_rules: (free, with_rules) == (False, True),
        ),
        Choice(
            "Above it even when the model decodes freely: real text has no fixed rules",
            "A free output that is no tree costs all the brackets of its sentence.",
            when=lambda free, with_rules: (free, with_rules) == (True, True),
        ),
    ),
    given=tuple(map(above_the_grammar, ("beam21", "beam21+rules"))),
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
