"""What the reader guesses before an experiment of the chapter shows it."""

from walkthrough.ch08_residuals_and_layer_norm.experiments import norms
from walkthrough.lab import compare
from walkthrough.page.prediction import Choice, Prediction

without = Prediction(
    "08-without",
    "Two models are trained without any residual connection. One has four layers in each stack, "
    "the other a single one. Which of them learns to copy?",
    (
        Choice(
            "Neither: each sub-layer needs its own",
            "The paper gives each its own, and still: how much is lost in a stack of one layer?",
            when=lambda four, one: four.levels[0] > 2 and one.levels[0] > 2,
        ),
        Choice(
            "The single layer",
            "It does, nearly as well: it is behind in nine of ten pairs, and by less than a tenth "
            "of a nat.",
            when=lambda four, one: four.levels[0] > 2 and one.mean < 0.1 and one.wins == 1,
        ),
        Choice(
            "Both, the deep one later",
            "The deep one hardly begins: see below how far it comes, and in how many updates.",
            when=lambda four, one: four.levels[0] < 0.5 and one.levels[0] < 0.5,
        ),
    ),
    given=(
        compare("08-residual", "4 layers, no residual", "4 layers", figure="new/-/loss"),
        compare("08-residual", "1 layer, no residual", "1 layer", figure="new/-/loss"),
    ),
)

_NORMS = norms.EXPERIMENT.frame().query("rate == 1 and warmup == 'warm-up 50'")

slowest = Prediction(
    "08-slowest",
    "Both orders, each with both starts: four kinds learn to copy. Which needs the most updates?",
    (
        Choice(
            "Post-norm with the small start",
            "Little is added at first, but the words stay apart, and it learns in time.",
            when="post-norm, small start",
        ),
        Choice(
            "Pre-norm with the full-size start",
            "The stream grows, and still each word keeps its own part of it.",
            when="pre-norm, full-size start",
        ),
        Choice(
            "Post-norm with the full-size start",
            "It starts with words that are nearly alike, and has to part them first.",
            when="post-norm, full-size start",
        ),
        Choice(
            "Pre-norm with the small start",
            "It is the fastest of the four.",
            when="pre-norm, small start",
        ),
    ),
    given=(
        _NORMS.groupby("kind")["train/-/updates"].median()[list(norms.KINDS.values())].idxmax(),
    ),
)
