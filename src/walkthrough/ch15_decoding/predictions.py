"""What the reader guesses before an experiment of the chapter shows it."""

from walkthrough.page.prediction import Choice, Prediction

exact = Prediction(
    "15-exact",
    "The exact search finds the most probable output every time, which a beam of 4 misses three "
    "times. Which translates more of the 200 sentences exactly?",
    (
        Choice(
            "The exact search, by five sentences or more",
            "It could gain on three sentences only, and only if the model prefers the right one "
            "there.",
        ),
        Choice(
            "They differ by one sentence at most",
            "The search was hardly ever what went wrong.",
            right=True,
        ),
        Choice(
            "The beam, by five sentences or more", "In most sentences both find the same output."
        ),
    ),
)

whose_errors = Prediction(
    "15-whose-errors",
    "A beam of 4 gets 71 of the 200 sentences wrong. In how many of these does the reference have "
    "the higher score, so that the search is to blame?",
    (
        Choice(
            "In none",
            "The model preferred its wrong output each time. A better search has nothing to give.",
            right=True,
        ),
        Choice("In about a third", "Even greedy search is to blame less often."),
        Choice(
            "In nearly all",
            "That would be a model that knows better and a search that spoils it. This one was "
            "trained briefly.",
        ),
    ),
)

not_reordered = Prediction(
    "15-not-reordered",
    "With a beam of 4, 129 of the 200 translations are exact. How many are left when the cache is "
    "never reordered?",
    (
        Choice(
            "Hardly any",
            "Hypotheses do read each other's words, and their scores are wrong. Which hypothesis "
            "is reported in the end?",
        ),
        Choice(
            "About a third",
            "Far more than a third of the *scores* come out wrong. Which hypothesis is reported in "
            "the end?",
        ),
        Choice(
            "About two thirds",
            "The harm is in the scores that are reported, not in the translations.",
        ),
        Choice(
            "About as many as before",
            "The best hypothesis mostly stays in its row, where nothing has to move. That is why "
            "nobody notices.",
            right=True,
        ),
    ),
)
