"""What the reader guesses before an experiment of the chapter shows it."""

from walkthrough.page.prediction import Choice, Prediction

twice = Prediction(
    "10-twice",
    "A sentence gets twice as long, and vectors keep their size. By which factors does the work of "
    "self-attention and of a recurrence grow?",
    (
        Choice("Both by 2", "In self-attention each of twice as many words meets twice as many."),
        Choice("By 4 and by 2", "Pairs of words grow with the square, steps do not.", right=True),
        Choice("By 2 and by 4", "So it is when the *vectors* get twice as long, not the sentence."),
        Choice("Both by 4", "A recurrence does the same for each word, however many there are."),
    ),
)

words_with_words = Prediction(
    "10-words-with-words",
    "The base model reads a sentence of 25 word pieces. Which share of an attention layer's "
    "operations lets words meet words, the part that Table 1 counts?",
    (
        Choice(
            "Nearly all",
            "The projections stand beside it, and for so short a sentence they have far more to "
            "do.",
        ),
        Choice("About half", "That takes a sentence of 2*d* words, here 1024."),
        Choice("About a third", "So it is at 512 words."),
        Choice(
            "Less than 3 %",
            "The share is *n* in *n* + 2*d*, and *n* is small beside 1024.",
            right=True,
        ),
    ),
)
