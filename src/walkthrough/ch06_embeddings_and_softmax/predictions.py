"""What the reader guesses before an experiment of the chapter shows it."""

from walkthrough.page.prediction import Choice, Prediction

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

no_factor = Prediction(
    "06-no-factor",
    "After 200 updates the paper's kind, tied and with the factor, has a perplexity of about 5. "
    "What has the same model without the factor?",
    (
        Choice(
            "Less than 5, since it does not begin by repeating its input",
            "It begins with the lower loss, and loses that lead early.",
        ),
        Choice(
            "About 5, since rows can grow in training",
            "They may. In 200 updates that does not help enough.",
        ),
        Choice("About 10", "The gap is wider than that."),
        Choice("More than 40", "Small entries start well, then stall.", right=True),
    ),
)

same_size = Prediction(
    "06-same-size",
    "Two untied models. In one the embeddings start at size 1, without the factor. In the other "
    "the factor brings small ones to size 1. Which learns faster?",
    (
        Choice(
            "Neither: the sizes are equal",
            "If sizes were the factor's only job, they would learn alike. Try to prove a reason "
            "wrong, and you may succeed.",
        ),
        Choice(
            "The one with the factor, by far",
            "So the factor does something else as well, and the cells below find out what.",
            right=True,
        ),
        Choice(
            "The one without the factor",
            "It does about as well as the paper's tied kind. The other does better than both.",
        ),
    ),
)
