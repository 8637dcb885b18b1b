"""What the reader guesses before an experiment of the chapter shows it."""

from walkthrough.lab import compare
from walkthrough.page.prediction import Choice, Prediction

KEYS, WIDER = (
    compare("17-table-3", arm, figure="test_sentences/perplexity")
    for arm in ("B d_k=16", "B d_k=16, wider")
)
EARLY = compare("17-table-3", "E learned positions", figure="test_sentences/perplexity", length=200)

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
    f"Keys of a quarter make our model {KEYS.effect}, with fewer parameters. Now it gets the "
    "parameters back, in wider feed-forward networks. How much of the loss does that make up?",
    (
        Choice(
            "All of it: parameters are parameters",
            "Then it would stand where base does.",
            when=lambda keys, wider: wider.mean < 0.25 * keys.mean,
        ),
        Choice(
            "About half",
            "Wider networks would have to help base itself by as much.",
            when=lambda keys, wider: 0.25 <= wider.mean / keys.mean <= 0.75,
        ),
        Choice(
            "Less than a quarter of it",
            f"It is still {WIDER.effect}, so it is not the number of parameters as such.",
            when=lambda keys, wider: wider.mean > 0.75 * keys.mean,
        ),
    ),
    given=(KEYS, WIDER),
)

after_200 = Prediction(
    "17-after-200",
    "After 600 updates learned positions and sinusoids cannot be told apart. Stop after 200 "
    "instead. In how many of the ten pairs are learned positions ahead?",
    (
        Choice(
            "In none: they have to learn first what sinusoids are given",
            "They do. It does not hold them up here.",
            when=0,
        ),
        Choice("In all ten", "And by far. It is true, of 200 updates.", when=10),
        Choice(
            "In four to six: ten pairs protect from chance",
            "From chance they do, and this is not chance.",
            when=(4, 5, 6),
        ),
    ),
    given=(EARLY.wins,),
)
