"""What the reader guesses before an experiment of the chapter shows it."""

from walkthrough.page.prediction import Choice, Prediction

own_word = Prediction(
    "06-own-word",
    "The model is tied and untrained, and its numbers are random. It reads a word: which word gets "
    "the highest logit?",
    (
        Choice(
            "Any: chance decides",
            "It does, where the output has a matrix of its own. Here one row of the matrix is also "
            "what went in.",
        ),
        Choice(
            "The word that it reads",
            "What went in was its row, and that row waits at the top.",
            right=True,
        ),
        Choice(
            "The same word at each place",
            "The states of different words point different ways, as you will see.",
        ),
    ),
)

rows = Prediction(
    "06-rows",
    "The vocabulary has 514 tokens, and the loss is that of one sentence pair. Untied, the output "
    "has a matrix of its own. How many of its rows get a gradient?",
    (
        Choice(
            "6, one for each token to be predicted",
            "These six are pushed up. And which are pushed down?",
        ),
        Choice(
            "Those of all words in the two sentences, about a dozen",
            "The output does not know which words were read. It gives a probability to every word "
            "there is.",
        ),
        Choice(
            "All 514, those of absent words included",
            "Softmax lowers every word that is not the right one.",
            right=True,
        ),
    ),
)
