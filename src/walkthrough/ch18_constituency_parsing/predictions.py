"""What the reader guesses before an experiment of the chapter shows it."""

from walkthrough.lab import frame
from walkthrough.page.prediction import Choice, Prediction

FREE = frame("18-phrases").query("arm == 'free' and rate == 1").groupby("length")
SHORT, LONG = FREE["held_out/greedy/f1"].mean()
"""Mean F1 of the ten parsers, decoded freely on shapes that training never had, by length."""

longer = Prediction(
    "18-longer",
    f"After 260 updates, free greedy decoding has an F1 of {SHORT:.0f} on shapes that training "
    "never had, because most outputs are no tree. What does it have after 1040?",
    (
        Choice(
            f"About {SHORT:.0f} still: new shapes stay new",
            "New shapes are made of old parts, and the model goes on learning those.",
            when=lambda after: after < SHORT + 10,
        ),
        Choice(
            "About 70: better, but a third of the outputs is still no tree",
            "It goes further than that.",
            when=lambda after: SHORT + 10 <= after < 85,
        ),
        Choice(
            "About 90: the form is learned too, only later",
            "The brackets close nearly always, and nobody has told it to.",
            when=lambda after: after >= 85,
        ),
    ),
    given=(LONG,),
)

one_update = Prediction(
    "18-one-update",
    "A model after a single update decodes with rules. How many of its outputs are trees over the "
    "sentence?",
    (
        Choice("All of them", "The rules close everything else.", right=True),
        Choice("About half, by luck", "Luck has no part in it: look at the rules again."),
        Choice(
            "Hardly any, because it has learned nothing",
            "It has learned nothing, and need not: form comes from the rules.",
        ),
    ),
)
