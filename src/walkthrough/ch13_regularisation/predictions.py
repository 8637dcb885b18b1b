"""What the reader guesses before an experiment of the chapter shows it."""

from collections.abc import Iterable

from walkthrough.lab import Comparison, compare, curves
from walkthrough.page.prediction import Choice, Prediction


def best_after(update: int) -> str:
    """Return the arm of 13-dropout with the lowest perplexity on unseen sentences by then."""
    found = curves("13-dropout").query("update == @update and measure == 'perplexity'")
    return str(found.groupby("arm")["value"].mean().idxmin())


def all_better(found: Iterable[Comparison]) -> bool:
    """Whether every pair of each comparison is better."""
    return all(one.wins == one.n for one in found)


def all_worse(found: Iterable[Comparison]) -> bool:
    """Whether every pair of each comparison is worse."""
    return all(all(one.differences) and one.wins == 0 for one in found)


after_200 = Prediction(
    "13-after-200",
    "After 200 of the 1000 updates, which model is best on *unseen* sentences?",
    (
        Choice(
            "The one without dropout",
            "Noise makes learning slower, and nobody knows the training sentences by heart yet.",
            when="p = 0.0",
        ),
        Choice(
            "The one with 0.1", "Its time comes. At update 200 it is still behind.", when="p = 0.1"
        ),
        Choice(
            "The one with 0.3, because with 1000 pairs overfitting is strongest",
            "It will overtake the first one. At update 200 it is the last of the three.",
            when="p = 0.3",
        ),
    ),
    given=(best_after(200),),
)

smoothing = Prediction(
    "13-smoothing",
    "Three seeds, with ε = 0.1 and without smoothing. What happens to accuracy and BLEU in the "
    "small translator?",
    (
        Choice(
            "Both get better with every seed, as the paper says",
            "Accuracy is better with none of the three, BLEU with one.",
            when=lambda *both: all_better(both),
        ),
        Choice(
            "Both get worse with every seed, as perplexity does",
            "For perplexity that is right. One seed gains BLEU by smoothing, and one keeps its "
            "accuracy.",
            when=lambda *both: all_worse(both),
        ),
        Choice(
            "It cannot be told: the seeds differ by too much",
            "Another seed changes both by more than the smoothing does.",
            when=lambda *both: not all_better(both) and not all_worse(both),
        ),
    ),
    given=tuple(
        compare("13-smoothing", "ε = 0.1", "ε = 0.0", figure=figure)
        for figure in ("valid/next_word", "test_sentences/bleu")
    ),
)
