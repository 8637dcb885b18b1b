"""What the reader guesses before an experiment of the chapter shows it."""

from walkthrough.lab import compare
from walkthrough.page.prediction import Choice, Prediction

beam = Prediction(
    "15-beam",
    "The same ten translators, decoded greedily and with a beam of 4. Who has the higher BLEU on "
    "400 unseen sentences?",
    (
        Choice(
            "The beam: better scores make better translations",
            "With some of the ten it does, by several points. With others it loses.",
            when="better",
        ),
        Choice(
            "Greedy search: it writes sentences of the right length",
            "Its lengths are nearest to the references. With some models that is enough, with "
            "others it is not.",
            when="worse",
        ),
        Choice(
            "Now the one, now the other: ten models do not tell",
            "What the search gains in score, short outputs take back, with each model in "
            "another measure.",
            when=("not told apart", "level", "ceiling", "turns with the length"),
        ),
    ),
    given=(compare("15-searches", "beam 4", "greedy", figure="test_sentences/bleu", length=300),),
)

average = Prediction(
    "15-average",
    "One run keeps its rate high, and its last five checkpoints are averaged. Another lets the "
    "rate fall to 0, and nothing is averaged. Which translates more unseen combinations "
    "exactly?",
    (
        Choice(
            "The one that falls to 0: small steps end at the best place",
            "Its last steps are small, and still it ends behind the average with each seed.",
            when="worse",
        ),
        Choice(
            "The average of the high rate",
            "The middle of five places around which the weights move is a better place than the "
            "end of a slow descent, with each of the five seeds.",
            when="better",
        ),
        Choice(
            "Both alike: they are two ways to calm the end of a run",
            "They do the same kind of thing, and one of them does it better with each of the "
            "five seeds.",
            when=("not told apart", "level"),
        ),
    ),
    given=(
        compare(
            "15-averaging",
            "stays high, averaged",
            "falls to 0",
            figure="test_combinations/exact",
        ),
    ),
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
