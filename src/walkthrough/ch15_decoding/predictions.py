"""What the reader guesses before an experiment of the chapter shows it."""

from walkthrough.lab import compare
from walkthrough.page.prediction import Choice, Prediction

beam = Prediction(
    "15-beam",
    "A beam of 4 gains BLEU over greedy search. How much of this is left over greedy search that "
    "may write at most three words more than it reads?",
    (
        Choice(
            "Most of it: the beam finds better words",
            "It does, and too few of them. An output that goes round in a circle costs more.",
            when="better",
        ),
        Choice(
            "Nothing: the limit alone does as much",
            "What the beam gains is an end for outputs that have none, and the limit ends them, "
            "too.",
            when=("worse", "level", "not told apart", "depends on the measure"),
        ),
        Choice(
            "That cannot be compared: with a limit it is another task",
            "The same models read the same sentences; one search has one rule more.",
        ),
    ),
    given=(compare("15-searches", "beam 4", "greedy, limited", figure="test_sentences/bleu"),),
)

not_reordered = Prediction(
    "15-not-reordered",
    "With a beam of 4, 129 of the 200 translations are exact. How many are left when the cache is "
    "never reordered?",
    (
        Choice(
            "About as many as before",
            "The best hypothesis mostly stays in its row, where nothing has to move. That is why "
            "nobody notices.",
            right=True,
        ),
        Choice(
            "About two thirds",
            "The harm is in the scores that are reported, not in the translations.",
        ),
        Choice(
            "Hardly any",
            "Hypotheses do read each other's words, and their scores are wrong. Which hypothesis "
            "is reported in the end?",
        ),
    ),
)
