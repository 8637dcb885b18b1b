"""What the reader guesses before an experiment of the chapter shows it."""

from walkthrough.ch19_what_the_heads_attend_to.experiments import heads, reading
from walkthrough.page.prediction import Choice, Prediction

RUNS = heads.EXPERIMENT.frame()
ITS, MAKES = "its, his, her → son, sa, ses", "makes → fait, rend"
LOOKS = [row for row in reading.looks_rows(RUNS) if row["relation"] == ITS]
HIDDEN = [
    row["right"]
    for row in reading.hidden_rows(RUNS)
    if (row["relation"], row["hidden"]) == (MAKES, "edge")
]
TREES = {
    row["of"]: [r["f1"] for r in reading.tree_rows(RUNS) if r["of"] == row["of"]]
    for row in reading.tree_rows(RUNS)
}

whose = Prediction(
    "19-whose",
    "In *the city is famous for its museums*, French *ses* says nothing of the owner. From *its*, "
    "how often does the best encoder head look at the owner?",
    (
        Choice(
            "In nearly all sentences, as in the paper's Figure 4",
            "So it is for *it*, in some seeds. For *its* the translation asks another question.",
            when=lambda heads, distance: min(heads) > 0.9,
        ),
        Choice(
            "In fewer than a third, less often than a fixed distance finds it",
            "Where nothing has to be found, the encoder of these translators looks less often.",
            when=lambda heads, distance: max(heads) < min(1 / 3, distance),
        ),
        Choice(
            "In half of them, about as often as a fixed distance",
            "A head that looks two words to the left would do that. None of them does.",
            when=lambda heads, distance: max(abs(share - distance) for share in heads) < 0.1,
        ),
    ),
    given=([row["head"] for row in LOOKS], LOOKS[0]["offset"]),
)

same_picture = Prediction(
    "19-same-picture",
    "In each of five seeds an encoder head looks from *makes* at *more …* in 85 % of the "
    "sentences or more. Hide that edge. In how many seeds does *fait* come out for most of them?",
    (
        Choice(
            "In two",
            "In the other three the picture is the same, and the decoder's own look is enough.",
            when=2,
        ),
        Choice("In all five", "That is what the picture suggests, and why you test it.", when=5),
        Choice("In none", "In two seeds the look is what decides; the control shows that.", when=0),
    ),
    given=(sum(share < 0.5 for share in HIDDEN),),
)

best_tree = Prediction(
    "19-best-tree",
    "Trees are read out of the best encoder head. How well do they agree with the grammar's?",
    (
        Choice(
            "Better than right-branching trees",
            "No head of any seed gets that far.",
            when=lambda f1: min(f1["best trained head"]) > max(f1["right-branching"]),
        ),
        Choice(
            "No better than random trees",
            "Trained heads are above that, in every seed.",
            when=lambda f1: min(f1["best trained head"]) <= max(f1["random"]),
        ),
        Choice(
            "Better than an untrained model's, worse than right-branching",
            "They hold some structure, and a tree that looks at nothing holds more.",
            when=lambda f1: (
                max(f1["best untrained head"])
                < min(f1["best trained head"])
                <= max(f1["best trained head"])
                < min(f1["right-branching"])
            ),
        ),
    ),
    given=(TREES,),
)
