"""The check of chapter 01 on how long a tower of recurrent layers must wait (§1)."""

from walkthrough.checking import Check, Mistake, fixed

waiting_steps = Check(
    name="waiting_steps",
    reference=lambda n_words, n_layers: n_words + n_layers - 1,
    cases=[
        fixed("5 words, 2 layers", 5, 2),
        fixed("1 word, 1 layer", 1, 1),
        fixed("1 word, 4 layers", 1, 4),
        fixed("9 words, 1 layer", 9, 1),
        fixed("3 words, 7 layers", 3, 7),
    ],
    mistakes=[
        Mistake(
            "layer after layer",
            lambda n_words, n_layers: n_words * n_layers,
            "n_words · n_layers counts all steps. Some can run at the same time: layer 2 may read "
            "word 1 while layer 1 reads word 2.",
            where='"Attention is O(1)"',
        ),
        Mistake(
            "layers for free",
            lambda n_words, n_layers: n_words,
            "n_words is the count for one layer. The last layer cannot start at once: it waits "
            "until the layers below have read the first word.",
        ),
        Mistake(
            "one too many",
            lambda n_words, n_layers: n_words + n_layers,
            "one too many: with one layer and one word there is one step, not two.",
        ),
    ],
    right="`waiting_steps` is right, for {n_cases} networks",
)
