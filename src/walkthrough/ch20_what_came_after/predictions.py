"""What the reader guesses before chapter 20 shows it."""

from walkthrough.lab import compare, frame
from walkthrough.page.prediction import Choice, Prediction


def labels_needed() -> int:
    """Return how few labels of 20-bert judge as well as asking does, within a point."""
    asked = frame("20-bert")["test/asked/accuracy"].mean()
    tuned = {
        n: compare("20-bert", "pre-trained", figure=f"test/{n} labels/accuracy").levels[0]
        for n in (100, 400, 1600)
    }
    return min(n for n, share in tuned.items() if share > asked - 0.01)


def best_when_longer(*arms: str) -> str:
    """Return the arm of 20-block, or 2017's, that translates most of the longer sentences."""
    found = [compare("20-block", arm, "2017", figure="longer/exact") for arm in arms]
    shares = {one.ours: one.levels[0] for one in found} | {"2017": found[0].levels[1]}
    return max(shares, key=lambda arm: shares[arm])


asking = Prediction(
    "20-asking",
    "Asked for the article, with no label at all, the models judge 97 of a hundred new sentences "
    "rightly. How many labelled ones does fine-tuning take for that?",
    (
        Choice("100", "A hundred are few: 0.59 where guessing has 0.5.", when=100),
        Choice("400", "They bring 0.82.", when=400),
        Choice(
            "1600",
            "With them it has 0.97 too. The genders were known before; labels teach where to put "
            "them.",
            when=1600,
        ),
    ),
    given=(labels_needed(),),
)

longer = Prediction(
    "20-longer",
    "Trained on up to eight words: with which positions does a model translate most sentences of "
    "ten to fourteen?",
    (
        Choice(
            "RoPE, whose scores see distances alone",
            "It translates the fewest. At new distances it is as lost as anybody.",
            when="RoPE",
        ),
        Choice("the paper's sinusoids", "They are in the middle.", when="2017"),
        Choice(
            "no positions at all",
            "The causal mask lets a model count, and there is no position it has never seen.",
            when="no positions",
        ),
    ),
    given=(best_when_longer("RoPE", "no positions"),),
)
