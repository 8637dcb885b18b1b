"""What the reader guesses before an experiment of the chapter shows it."""

from walkthrough.page.prediction import Choice, Prediction

weakest = Prediction(
    "14-weakest",
    "The held-out pairs are of four kinds. With which will the trained model have most trouble?",
    (
        Choice(
            "An adjective and a noun: black things, cats, never a black cat",
            "It turns their order round, as for any other noun and adjective.",
        ),
        Choice(
            "A verb and its object: to eat, an orange, never to eat an orange",
            "Each word is translated by itself here, and the places are the usual ones.",
        ),
        Choice(
            "A verb and a place: to visit, Japan, never to visit Japan",
            "Another place after the same verb changes one word.",
        ),
        Choice(
            "A verb and its negation: *sells*, never *does not sell*",
            "Training showed *sells*, and *sell* after a plural, but never *does not sell*. The "
            "model has to do here what it does with other verbs.",
            right=True,
        ),
    ),
)

lowest_loss = Prediction(
    "14-lowest-loss",
    "Four models were trained alike. Which ends with the lowest *training* loss?",
    (
        Choice("The whole one", "It translates best. The training loss asks for something easier."),
        Choice(
            "The one without a target mask", "It can see the word that it must predict.", right=True
        ),
        Choice(
            "The one without positions, which has the least to learn",
            "It has less to go by, and word order is part of what it must predict.",
        ),
        Choice("The one without the scale", "It learns like the whole one, only more slowly."),
    ),
)
