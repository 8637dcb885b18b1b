"""What the reader guesses before chapter 20 shows it."""

from walkthrough.lab import compare, frame
from walkthrough.page.prediction import Choice, Prediction


def best_when_longer(*arms: str) -> str:
    """Return the arm of 20-block, or 2017's, that translates most of the longer sentences."""
    found = [compare("20-block", arm, "2017", figure="longer/exact") for arm in arms]
    shares = {one.ours: one.levels[0] for one in found} | {"2017": found[0].levels[1]}
    return max(shares, key=lambda arm: shares[arm])


ASKED = frame("20-bert").query("arm == 'pre-trained'")["test/asked/accuracy"].mean()
TUNED = {
    n: compare("20-bert", "pre-trained", figure=f"test/{n} labels/accuracy").levels[0]
    for n in (100, 400, 1600)
}
asking = Prediction(
    "20-asking",
    f"Asked for the article, with no label at all, the models judge {100 * ASKED:.0f} of a hundred "
    "new sentences rightly. How many labelled ones does fine-tuning take for that?",
    (
        Choice("100", f"A hundred are few: {TUNED[100]:.2f} where guessing has 0.5.", when=100),
        Choice("400", f"They bring {TUNED[400]:.2f}.", when=400),
        Choice(
            "1600",
            f"With them it has {TUNED[1600]:.2f} too. The genders were known before; labels teach "
            "where to put them.",
            when=1600,
        ),
    ),
    given=(min(n for n, share in TUNED.items() if share > ASKED - 0.01),),
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
