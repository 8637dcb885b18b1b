"""What the reader guesses before an experiment of the chapter shows it."""

from walkthrough.ch23_is_yours_right import public
from walkthrough.page.prediction import Choice, Prediction

_ROWS = public.implementations()
_AS_PRINTED = sum(not row["departures"] and not row["bugs"] for row in _ROWS)
_WITH_A_BUG = sum(bool(row["bugs"]) for row in _ROWS)

merge = Prediction(
    "23-merge",
    "Three copies of one model learn to copy six words. One merges its heads without the exchange. "
    "What is its loss beside that of the right model?",
    (
        Choice(
            "Higher: it mixes numbers of different words",
            "It mixes them, and some of them are the words that it has to write.",
        ),
        Choice(
            "About the same: the matrix behind the merge sorts it out",
            "It could, and then the loss would be no better than the right model's.",
        ),
        Choice(
            "Far lower",
            "The mixture holds words that come later, and to copy them is simple. In use they do "
            "not exist yet.",
            right=True,
        ),
    ),
)

others = Prediction(
    "23-others",
    f"{len(_ROWS)} public implementations are examined, most of them written to teach. How many "
    "are the paper's model in every detail that the doctor knows?",
    (
        Choice(
            "All but a few",
            f"A bug alone was seen in {_WITH_A_BUG} of them.",
            when=lambda as_printed: as_printed > len(_ROWS) / 2,
        ),
        Choice(
            "A few",
            "Each of them departs somewhere, if only in where dropout stands.",
            when=lambda as_printed: 0 < as_printed <= len(_ROWS) / 2,
        ),
        Choice(
            "None",
            "Each departs somewhere, most of them as today's models do.",
            when=lambda as_printed: as_printed == 0,
        ),
    ),
    given=(_AS_PRINTED,),
)
