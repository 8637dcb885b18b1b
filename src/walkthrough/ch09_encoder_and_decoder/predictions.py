"""What the reader guesses before an experiment of the chapter shows it."""

from walkthrough.page.prediction import Choice, Prediction

one_layer = Prediction(
    "09-one-layer",
    "One layer gets four times the updates. How often is it right when the pointer is followed "
    "*twice*?",
    (
        Choice(
            "No more often than one look allows",
            "That would be so if each place could look at one other place only. It has four heads.",
        ),
        Choice(
            "More often than one look allows, and less often than two layers",
            "Its four heads can collect several pointers at once, and the feed-forward network can "
            "follow some of them.",
            right=True,
        ),
        Choice(
            "As often as two layers",
            "It gets better, but slowly. Two layers had it after a quarter of the updates.",
        ),
    ),
)

silent = Prediction(
    "09-silent",
    "The attention to the memory is silenced in one of the two decoder layers. Which silence "
    "spoils the three translations?",
    (
        Choice(
            "That of the second layer alone",
            "In this model nearly all that is translated comes through the second layer.",
            right=True,
        ),
        Choice(
            "That of the first layer alone, because the second builds on it",
            "The second layer reads the memory by itself, and here it does not miss what the first "
            "has found.",
        ),
        Choice("Either one", "One of the two is not missed in these sentences."),
        Choice(
            "Neither: each makes up for the other",
            "One of the two can stand in for the other, but not the other way round.",
        ),
    ),
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
