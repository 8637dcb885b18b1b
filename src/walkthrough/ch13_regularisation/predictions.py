"""What the reader guesses before an experiment of the chapter shows it."""

from walkthrough.lab import compare
from walkthrough.page.prediction import Choice, Prediction

EARLY = compare("13-dropout", "p = 0.1", "p = 0.0", figure="greedy/exact", length=200)
BLEU = compare("13-smoothing", "ε = 0.1", "ε = 0.0", figure="greedy/bleu")

after_200 = Prediction(
    "13-after-200",
    "After 200 of the 1000 updates, which models translate more *unseen* sentences exactly?",
    (
        Choice(
            "Those without dropout",
            "Noise makes learning slower, and nobody knows the training sentences by heart yet.",
            when=lambda found: found.high < 0,
        ),
        Choice(
            "Those with dropout of 0.1, because 1000 pairs are few",
            "Their time comes. At update 200 they are still behind.",
            when=lambda found: found.low > 0,
        ),
        Choice(
            "Neither: after 200 updates they do not differ yet",
            f"They differ, in {max(EARLY.wins, EARLY.n - EARLY.wins)} of {EARLY.n} pairs.",
            when=lambda found: found.low <= 0 <= found.high,
        ),
    ),
    given=(EARLY,),
)

smoothing = Prediction(
    "13-smoothing",
    "Pairs of runs, with ε = 0.1 and without smoothing, 1000 updates. What happens to BLEU?",
    (
        Choice(
            "It gets better, as the paper says",
            f"On average, a little. {BLEU.n - BLEU.wins} of {BLEU.n} pairs say the opposite.",
            when="better",
        ),
        Choice(
            "It gets worse, as perplexity does",
            f"For perplexity that is right. {BLEU.wins} of {BLEU.n} pairs gain BLEU.",
            when="worse",
        ),
        Choice(
            "It cannot be told: the seeds differ by too much",
            "Another seed changes it by more than the smoothing does.",
            when=("not told apart", "level", "ceiling", "too few seeds"),
        ),
    ),
    given=(BLEU,),
)
