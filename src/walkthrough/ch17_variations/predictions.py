"""What the reader guesses before an experiment of the chapter shows it."""

from walkthrough.ch17_variations import paired
from walkthrough.lab import compare
from walkthrough.page.prediction import Choice, Prediction

QUARTER = paired.differences(paired.on_the_way("17-table-3", 150))["A h=1"]
"""Per cents that one head is worse than eight, with each seed, after 150 updates."""

bootstrap_of_five = Prediction(
    "17-bootstrap-of-five",
    "Draw five numbers at random, and compute from them an interval that is to cover their true "
    "mean 95 times in 100, by the bootstrap. How often does it?",
    (
        Choice(
            "About 83 times",
            "Five numbers mostly lie too close together, and resampling cannot see beyond them.",
            right=True,
        ),
        Choice("95 times, that is what it is made for", "It is, for many numbers. Five are few."),
        Choice(
            "More than 95 times: it assumes nothing",
            "Assuming nothing makes an interval of few numbers shorter here, not longer.",
        ),
    ),
)

keys_or_parameters = Prediction(
    "17-keys-or-parameters",
    "Keys of a quarter make our model 10 per cent worse, with fewer parameters. Now it gets the "
    "parameters back, in wider feed-forward networks. How much of the loss does that make up?",
    (
        Choice(
            "All of it: parameters are parameters",
            "Then it would stand where base does.",
            when=lambda keys, wider: wider.mean < 0.25 * keys.mean,
        ),
        Choice(
            "About half",
            "Wider networks do help a little, but less than that.",
            when=lambda keys, wider: 0.25 <= wider.mean / keys.mean <= 0.75,
        ),
        Choice(
            "Hardly any of it",
            "It is still 9 per cent worse, so it is not the number of parameters as such.",
            when=lambda keys, wider: wider.mean > 0.75 * keys.mean,
        ),
    ),
    given=tuple(
        compare("17-table-3", arm, "base", figure="test_sentences/perplexity")
        for arm in ("B d_k=16", "B d_k=16, wider")
    ),
)

after_a_quarter = Prediction(
    "17-after-a-quarter",
    "At the end one head is worse than eight with every seed. Stop after 150 of the 600 updates. "
    "How many of the five pairs show it then?",
    (
        Choice("All five", "The end does not show so early. It shows the opposite.", when=5),
        Choice("None of them", "With every seed one head is *ahead* at that time.", when=0),
        Choice(
            "Two or three, as a coin would have it",
            "They agree with each other: on the wrong side.",
            when=(2, 3),
        ),
        Choice("Four", "That is what a small effect and a little chance would give.", when=4),
    ),
    given=(int((QUARTER > 0).sum()),),
)
