"""What the reader guesses before an experiment of the chapter shows it."""

from walkthrough.lab import compare
from walkthrough.page.prediction import Choice, Prediction

never_there = Prediction(
    "09-never-there",
    "A translator is trained without any look at the source, and asked for the next word of "
    "English sentences. How often is its first guess right?",
    (
        Choice(
            "Once in 514 times, by chance: the vocabulary has 514 tokens",
            "It cannot know the source, but it has read the English so far.",
            when=lambda right: right < 0.05,
        ),
        Choice(
            "In about four of ten cases",
            "It knows English: after *in* comes a place, a month or *the*.",
            when=lambda right: 0.35 < right < 0.5,
        ),
        Choice(
            "In about nine of ten cases, because it could adapt",
            "It adapts to English. Whom the sentence is about it cannot guess.",
            when=lambda right: right > 0.8,
        ),
    ),
    given=(compare("09-silent", "never there", "both silent", figure="next_word").levels[0],),
)

big_count = Prediction(
    "09-big-count",
    "Base has 63.1 million parameters by our count, where the paper prints 65. The paper prints "
    "213 for big. What does our count give?",
    (
        Choice(
            "Less than 213, for the same reason",
            "A vocabulary that was taken too small would do that to both. So the reason must be "
            "another.",
        ),
        Choice("213", "That would leave base as the only riddle. There are two."),
        Choice("More than 213", "So one count is too small and the other too large.", right=True),
    ),
)
