"""What the reader guesses before an experiment of the chapter shows it."""

from walkthrough.page.prediction import Choice, Prediction

whose = Prediction(
    "19-whose",
    "In *the city is famous for its museums*, French *ses* says nothing of the owner. From *its*, "
    "how often does the best encoder head look at the owner?",
    (
        Choice(
            "In nearly all sentences, as in the paper's Figure 4",
            "So it is for *it*, in some seeds. For *its* the translation asks another question.",
        ),
        Choice(
            "In fewer than a third, less often than a fixed distance finds it",
            "Where nothing has to be found, the encoder of these translators looks less often.",
            right=True,
        ),
        Choice(
            "In half of them, about as often as a fixed distance",
            "A head that looks two words to the left would do that. None of them does.",
        ),
    ),
)

same_picture = Prediction(
    "19-same-picture",
    "In each of five seeds an encoder head looks from *makes* at *more …* in 85 % of the "
    "sentences or more. Hide that edge. In how many seeds does *fait* come out for most of them?",
    (
        Choice(
            "In two",
            "In the other three the picture is the same, and the decoder's own look is enough.",
            right=True,
        ),
        Choice("In all five", "That is what the picture suggests, and why you test it."),
        Choice("In none", "In two seeds the look is what decides; the control shows that."),
    ),
)

best_tree = Prediction(
    "19-best-tree",
    "Trees are read out of the best encoder head. How well do they agree with the grammar's?",
    (
        Choice("Better than right-branching trees", "No head of any seed gets that far."),
        Choice("No better than random trees", "Trained heads are above that, in every seed."),
        Choice(
            "Better than an untrained model's, worse than right-branching",
            "They hold some structure, and a tree that looks at nothing holds more.",
            right=True,
        ),
    ),
)
