"""What the reader guesses before an experiment of the chapter shows it."""

from walkthrough.ch19_what_the_heads_attend_to.experiments import heads, measuring, reading
from walkthrough.lab import compare
from walkthrough.page.prediction import Choice, Prediction

RUNS = heads.EXPERIMENT.frame()
LEFT = reading.right(RUNS, measuring.MAKES)["encoder closed"]

all_heads = Prediction(
    "19-all-heads",
    "Three heads of the encoder look from *makes* at *more*. Close the edge to *more difficult* in "
    "all eight. What does this translator write?",
    (
        Choice("*fait*", "That is what the map suggests, and why you test it."),
        Choice("*rend*, as before", "It has another way to know.", right=True),
        Choice("Neither, for it never met such a hole", "It takes the hole well."),
    ),
)

same_picture = Prediction(
    "19-same-picture",
    "In each of ten trainings an encoder head looks from *makes* at *more …* in four sentences of "
    "five or more. Close that look in all heads of the encoder. In how many trainings does *fait* "
    "come out for most sentences?",
    (
        Choice("In none, as in the translator above", "There are others.", when=0),
        Choice("In one to four", "The picture is the same, the need is not.", when=(1, 2, 3, 4)),
        Choice(
            "In five to nine", "The decoder's own look is enough more often.", when=(5, 6, 7, 8, 9)
        ),
        Choice("In all ten", "The translator above is one of them, and it says *rend*.", when=10),
    ),
    given=(int((LEFT < 0.5).sum()),),
)

best_tree = Prediction(
    "19-best-tree",
    "Head and bias are chosen on other sentences. Whose trees agree better with the grammar's than "
    "right-branching ones do?",
    (
        Choice(
            "Those of trained models, and of untrained ones as well: the bias does it",
            "The bias alone gets as far as the tree that looks at nothing, and no further.",
            when=lambda trained, fresh: trained == fresh == "better",
        ),
        Choice(
            "Those of trained models alone",
            "Their maps hold something that neither the bias nor a random start has.",
            when=lambda trained, fresh: trained == "better" != fresh,
        ),
        Choice(
            "Neither: English opens its brackets at the left too regularly",
            "Without a bias it would be so.",
            when=lambda trained, fresh: trained != "better" != fresh,
        ),
    ),
    given=tuple(
        compare(heads.EXPERIMENT, arm, "right-branching", figure="english/best_bias/f1").verdict
        for arm in ("trained", "untrained")
    ),
)
