"""What the reader guesses before an experiment of the chapter shows it."""

from walkthrough.lab import compare
from walkthrough.page.prediction import Choice, Prediction

spike = Prediction(
    "12-spike",
    "All gradients are 1, but the one of update 200 is 100. What does Adam do with it?",
    (
        Choice(
            "Its step at update 200 is about 100 times as long",
            "The step is divided by a size in which the new gradient is counted already.",
        ),
        Choice(
            "Its steps *after* update 200 are too short, for hundreds of updates",
            "The running mean of squares keeps the square of 100 for long.",
            right=True,
        ),
        Choice(
            "Nothing: lengths are divided out",
            "They are, by a mean that has a memory. Look at what comes later.",
        ),
    ),
)

decay = Prediction(
    "12-decay",
    "With Adam and the *old* way of decay, λ*w* is added to the gradient. What becomes of the two "
    "weights?",
    (
        Choice(
            "Both shrink alike, because λ is the same",
            "That is what AdamW does, by taking the decay off directly.",
        ),
        Choice(
            "The loud one shrinks more",
            "Its decay is divided by the size of its gradients, which is large.",
        ),
        Choice(
            "The quiet one shrinks more",
            "Its decay is divided by a size that is small.",
            right=True,
        ),
    ),
)

no_warmup = Prediction(
    "12-no-warmup",
    "Post-norm with the package's small start, ten seeds. What does leaving out the warm-up cost?",
    (
        Choice(
            "Nothing that stands out from the spread of ten seeds",
            "Some seeds are later without it, and more are earlier.",
            when=("not told apart", "level"),
        ),
        Choice(
            "Time: it is later with nearly every seed",
            "Three seeds and 200 updates once seemed to say so. Ten seeds do not.",
            when=lambda found: found.verdict == "worse" and found.levels[0] < 600,
        ),
        Choice(
            "Most runs: they are not down after 600 updates",
            "So it is with the full-size start. The small start does not need the rise.",
            when=lambda found: found.verdict == "worse" and found.levels[0] >= 600,
        ),
    ),
    given=(compare("12-optimiser", "no warm-up", "baseline", figure="train/updates"),),
)
