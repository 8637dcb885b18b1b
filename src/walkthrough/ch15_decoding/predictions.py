"""What the reader guesses before an experiment of the chapter shows it."""

from walkthrough.lab import compare
from walkthrough.page.prediction import Choice, Prediction

beam = Prediction(
    "15-beam",
    "The same ten translators, decoded greedily and with a beam of 4. Which of the two gets "
    "more of 400 unseen sentences exactly right?",
    (
        Choice(
            "The beam: a better score is a better sentence",
            "It finds better scores with all ten. Whole sentences it wins with five of them.",
            when="better",
        ),
        Choice(
            "Greedy search: its outputs are not too short",
            "Its outputs are longer, with all ten. Whole sentences it wins with four of them.",
            when="worse",
        ),
        Choice(
            "Neither: ten models do not tell",
            "Five are ahead with the beam, four with greedy search, one is level.",
            when=("not told apart", "level"),
        ),
    ),
    given=(compare("15-searches", "beam 4", "greedy", figure="test_sentences/exact", length=300),),
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
