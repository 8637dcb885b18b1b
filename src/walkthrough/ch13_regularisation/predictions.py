"""What the reader guesses before an experiment of the chapter shows it."""

from walkthrough.page.prediction import Choice, Prediction

after_200 = Prediction(
    "13-after-200",
    "After 200 of the 1000 updates, which model is best on *unseen* sentences?",
    (
        Choice(
            "The one without dropout",
            "Noise makes learning slower, and nobody knows the training sentences by heart yet.",
            right=True,
        ),
        Choice("The one with 0.1", "Its time comes. At update 200 it is still behind."),
        Choice(
            "The one with 0.3, because with 1000 pairs overfitting is strongest",
            "It will overtake the first one. At update 200 it is the last of the three.",
        ),
    ),
)

smoothing = Prediction(
    "13-smoothing",
    "Three seeds, with ε = 0.1 and without smoothing. What happens to accuracy and BLEU in the "
    "small translator?",
    (
        Choice(
            "Both get better with every seed, as the paper says",
            "Accuracy is better with none of the three, BLEU with one.",
        ),
        Choice(
            "Both get worse with every seed, as perplexity does",
            "For perplexity that is right. One seed gains BLEU by smoothing, and one keeps its "
            "accuracy.",
        ),
        Choice(
            "It cannot be told: the seeds differ by too much",
            "Another seed changes both by more than the smoothing does.",
            right=True,
        ),
    ),
)
