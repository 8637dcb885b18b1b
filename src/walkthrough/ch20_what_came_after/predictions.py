"""What the reader guesses before chapter 20 shows it."""

from walkthrough.page.prediction import Choice, Prediction

asking = Prediction(
    "20-asking",
    "A model has guessed hidden words in 16 000 sentences. How does it judge new ones best?",
    (
        Choice(
            "fine-tuned on 100 labelled sentences",
            "A hundred are few: 0.59 where guessing has 0.5.",
        ),
        Choice(
            "fine-tuned on 1600 labelled sentences",
            "This comes near: 0.95. The genders were known before; labels teach where to put them.",
        ),
        Choice(
            "with no label, asked for the article",
            "It is right in 97 to 99 of a hundred sentences. It is asked what it was trained on.",
            right=True,
        ),
    ),
)

order = Prediction(
    "20-order",
    "All images get their patches in another order, the same for all. Whose result falls by more "
    "than chance?",
    (
        Choice(
            "that of the convolution alone",
            "It is told that neighbours belong together. Nobody told the other two.",
            right=True,
        ),
        Choice(
            "that of the vision transformer alone",
            "Its positions start at random, so another order is another name for them.",
        ),
        Choice(
            "those of both, but not the linear model's",
            "The linear model cannot notice, and the vision transformer cannot either: "
            "what it loses is chance.",
        ),
        Choice("those of all three", "A linear model has a weight for each pixel, in any order."),
    ),
)

longer = Prediction(
    "20-longer",
    "Trained on up to eight words: which positions give the lowest loss on ten to fourteen?",
    (
        Choice(
            "RoPE, whose scores see distances alone",
            "It has the highest loss of the three. At new distances it is as lost as anybody.",
        ),
        Choice("the paper's sinusoids", "They are in the middle."),
        Choice(
            "no positions at all",
            "The causal mask lets a model count, and there is no position it has never seen.",
            right=True,
        ),
    ),
)
