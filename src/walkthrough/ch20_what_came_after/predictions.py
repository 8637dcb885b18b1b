"""What the reader guesses before chapter 20 shows it."""

from walkthrough.lab import compare, frame
from walkthrough.page.prediction import Choice, Prediction


def best_way_to_ask() -> str:
    """Return the figure at which the pre-trained model of 20-bert judges best."""
    runs = frame("20-bert").query("arm == 'pre-trained'")
    return str(runs.filter(like="/accuracy").mean().idxmax())


def fall(kind: str) -> float:
    """Return the points that a model of 20-images loses when its patches change their order."""
    return -compare("20-images", f"{kind}, 1200, patches", f"{kind}, 1200", figure="accuracy").mean


def lowest_when_longer(*arms: str) -> str:
    """Return the arm of 20-block with the lowest loss on longer sentences after 250 updates."""
    runs = frame("20-block").query("length == 250 and rate == 1 and seed <= 6 and arm in @arms")
    return str(runs.groupby("arm")["longer/-/loss"].mean().idxmin())


CHANCE = 1.8
"""Points: what chance alone makes of 597 images, two standard errors."""
FALLING = tuple(kind for kind in ("linear", "convolution", "ViT 2") if fall(kind) > CHANCE)

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

order = Prediction(
    "20-order",
    "All images get their patches in another order, the same for all. Whose result falls by more "
    "than chance?",
    (
        Choice(
            "that of the convolution alone",
            "It is told that neighbours belong together. Nobody told the other two.",
            when=lambda *falling: falling == ("convolution",),
        ),
        Choice(
            "that of the vision transformer alone",
            "Its positions start at random, so another order is another name for them.",
            when=lambda *falling: falling == ("ViT 2",),
        ),
        Choice(
            "those of both, but not the linear model's",
            "The linear model cannot notice, and the vision transformer cannot either: "
            "what it loses is chance.",
            when=lambda *falling: falling == ("convolution", "ViT 2"),
        ),
        Choice(
            "those of all three",
            "A linear model has a weight for each pixel, in any order.",
            when=lambda *falling: len(falling) == 3,
        ),
    ),
    given=FALLING,
)

longer = Prediction(
    "20-longer",
    "Trained on up to eight words: which positions give the lowest loss on ten to fourteen?",
    (
        Choice(
            "RoPE, whose scores see distances alone",
            "It has the highest loss of the three. At new distances it is as lost as anybody.",
            when="RoPE",
        ),
        Choice("the paper's sinusoids", "They are in the middle.", when="2017"),
        Choice(
            "no positions at all",
            "The causal mask lets a model count, and there is no position it has never seen.",
            when="no positions",
        ),
    ),
    given=(lowest_when_longer("RoPE", "2017", "no positions"),),
)
