"""What the reader guesses before an experiment of the chapter shows it."""

from walkthrough.lab import compare
from walkthrough.page.prediction import Choice, Prediction

vanishing = Prediction(
    "08-vanishing",
    "An untrained model of six layers *without* residuals. Where does the gradient vanish on its "
    "way down to the first layer?",
    (
        Choice(
            "In both stacks", "In the encoder as much arrives at the first layer as left the last."
        ),
        Choice(
            "In the encoder only, because it is farthest from the loss",
            "The encoder is farthest, and nothing is lost there. Distance does not do it.",
        ),
        Choice(
            "In neither, because every layer has a norm",
            "A norm keeps the *vectors* at one size. It does not decide whether the loss depends "
            "on them.",
        ),
        Choice(
            "In the decoder only",
            "What a layer hands on there comes from the encoder. Its own words only ask.",
            right=True,
        ),
    ),
)

sooner = Prediction(
    "08-sooner",
    "In the encoders of six layers above, post-norm with small branches leaves 66 % of a word, "
    "pre-norm with branches of full size 20 %. Now models of four layers are trained. Which learns "
    "to copy sooner?",
    (
        Choice(
            "Post-norm with the small branches",
            "More of the word is left, but this share does not decide. It orders the two starts of "
            "each norm, and not the two norms.",
            when=lambda found: found.wins == 0,
        ),
        Choice(
            "Pre-norm with branches of full size",
            "Earlier with all ten seeds at the middle rate; nothing measured so far predicts it.",
            when=lambda found: found.wins == found.n,
        ),
        Choice(
            "Neither, as far as ten seeds can show",
            "Held against each other seed by seed, one is earlier with all ten.",
            when=lambda found: 0 < found.wins < found.n,
        ),
    ),
    given=(
        compare(
            *("08-norms", "pre-norm, full-size start", "post-norm, small start"),
            figure="train/updates",
            rate=1,
        ),
    ),
)

wrong_source = Prediction(
    "08-wrong-source",
    "After 1 500 updates the slow model, post-norm with the full-size start, has a perplexity of "
    "32. What has it with the *wrong* source?",
    (
        Choice(
            "Still about 32: it ignores its source",
            "This is often said of such models, and it is too strong.",
        ),
        Choice(
            "About 40", "The source is worth much more to it than that, little as it sees of it."
        ),
        Choice(
            "More than 100",
            "It does read the source: as one vector, which says what the sentence is about.",
            right=True,
        ),
    ),
)
