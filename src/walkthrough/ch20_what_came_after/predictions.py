"""What the reader guesses before chapter 20 shows it."""

from walkthrough.lab import compare, frame
from walkthrough.page.prediction import Choice, Prediction


def best_way_to_ask() -> str:
    """Return the figure at which the pre-trained model of 20-bert judges best."""
    runs = frame("20-bert").query("arm == 'pre-trained'")
    return str(runs.filter(like="/accuracy").mean().idxmax())


def best_when_longer(*arms: str) -> str:
    """Return the arm of 20-block, or 2017's, that translates most of the longer sentences."""
    found = [compare("20-block", arm, "2017", figure="longer/exact") for arm in arms]
    shares = {one.ours: one.levels[0] for one in found} | {"2017": found[0].levels[1]}
    return max(shares, key=lambda arm: shares[arm])


asking = Prediction(
    "20-asking",
    "A model has guessed hidden words in 16 000 sentences. How does it judge new ones best?",
    (
        Choice(
            "fine-tuned on 100 labelled sentences",
            "A hundred are few: 0.59 where guessing has 0.5.",
            when="test/100 labels/accuracy",
        ),
        Choice(
            "fine-tuned on 1600 labelled sentences",
            "This comes near: 0.95. The genders were known before; labels teach where to put them.",
            when="test/1600 labels/accuracy",
        ),
        Choice(
            "with no label, asked for the article",
            "It is right in 97 to 99 of a hundred sentences. It is asked what it was trained on.",
            when="test/asked/accuracy",
        ),
    ),
    given=(best_way_to_ask(),),
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
