"""What the reader guesses before an experiment of the chapter shows it."""

from walkthrough.lab import compare
from walkthrough.page.prediction import Choice, Prediction

permuted = Prediction(
    "05-permuted",
    "The words are permuted. Of which of the three layers do the results come out permuted, and "
    "otherwise the same?",
    (
        Choice(
            "Of the feed-forward network alone",
            "There is another layer that does not know where a word stands, although it looks at "
            "all of them.",
        ),
        Choice(
            "Of the network and the convolution, which have the same weights at each place",
            "The convolution has. But it reads neighbours, and a permutation gives a word other "
            "neighbours.",
        ),
        Choice(
            "Of the network and self-attention",
            "Neither knows where a word stands. So this test does not show that words are treated "
            "*separately*.",
            right=True,
        ),
        Choice("Of all three", "One of them looks at who stands beside whom."),
    ),
)

enough_units = Prediction(
    "05-enough-units",
    "With a ReLU, 28 units can draw the 28 conclusions without a mistake, if you set them by hand. "
    "How much of the variance does a *trained* network of 28 units miss?",
    (
        Choice(
            "Between a twentieth and a tenth",
            "The network without a mistake exists. From a random start, training does not find it.",
            when=lambda found: 0.05 <= found.levels[0] <= 0.1,
        ),
        Choice(
            "Less than a hundredth",
            "That is what can be said with 28 units. Training has to find it.",
            when=lambda found: found.levels[0] < 0.01,
        ),
        Choice(
            "A third, like the best linear map",
            "The bend is worth more than that, even if training does not make the most of it.",
            when=lambda found: found.levels[0] > 0.25,
        ),
    ),
    given=(compare("05-bends", "ReLU, 28", "none, 28", figure="words/error"),),
)

longer_run = Prediction(
    "05-longer-run",
    "After 400 updates, at the rate of the recipe, the translators with a network of 256 units are "
    "ahead of those without one by 15 points of a hundred. And after 2 000?",
    (
        Choice(
            "Still well ahead: a model without networks cannot catch up",
            "It does, but for a point: after 2 000 updates it has 93 % against 94 %.",
            when=lambda found: found.mean > 5,
        ),
        Choice(
            "Ahead by about a point, if at all",
            "93 % against 94 %, and at twice the rate nothing is left. The 15 points were one "
            "rate's, too: at twice the rate they were 5.",
            when=lambda found: abs(found.mean) <= 5,
        ),
        Choice(
            "Further ahead, because the larger model has more to learn",
            "The other way round: the longer the run, the smaller the lead.",
        ),
    ),
    given=(compare("05-width", "256", "none", figure="test_combinations/exact"),),
)
