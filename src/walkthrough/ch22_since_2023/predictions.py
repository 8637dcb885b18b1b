"""What the reader guesses before an experiment of chapter 22 shows it."""

from walkthrough.lab import compare
from walkthrough.page.prediction import Choice, Prediction

same_numbers = Prediction(
    "22-same-numbers",
    "Both keep 512 numbers: the last 8 facts of 32 whole, or one matrix to which all 32 are added. "
    "Asked for any of the 32, which one is right more often?",
    (
        Choice(
            "The matrix: it holds something of every fact",
            "The facts lie over each other, and most can still be told apart.",
            when="better",
        ),
        Choice(
            "The window: what it has, it has exactly",
            "It has a quarter of the facts, and can only guess at the rest.",
            when="worse",
        ),
        Choice(
            "They are level: as many numbers hold as much",
            "They hold it of different facts. Asked for the last few alone, the window would win.",
            when="",
        ),
    ),
    given=(compare("22-recall", "sum 16", "window 8", figure="32/-/accuracy").side,),
)

one_vector = Prediction(
    "22-one-vector",
    "DeepSeek-V3 has 128 heads in each layer. What does a layer keep of a token?",
    (
        Choice(
            "Keys and values of 8 heads, which all share: 2048 numbers",
            "That is Llama's way. DeepSeek keeps less than a third of it.",
        ),
        Choice(
            "Something shorter than the keys of five heads: 576 numbers",
            "One vector, from which every head makes its own keys and values.",
            right=True,
        ),
        Choice(
            "The keys of all heads, and no values: 16 384 numbers",
            "Half of the old way would be a saving of two, not of sixty-seven.",
        ),
    ),
)
