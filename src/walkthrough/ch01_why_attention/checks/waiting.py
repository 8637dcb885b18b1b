"""The check of chapter 01 on how long a tower of recurrent layers must wait (§1)."""

from walkthrough.checking import Check, Mistake, fixed

waiting_steps = Check(
    name="waiting_steps",
    reference=lambda n_words, n_layers: n_words + n_layers - 1,
    cases=[
        fixed("5 words, 2 layers", 5, 2),
        fixed("50 words, 6 layers", 50, 6),
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
        Mistake(
            "longer side",
            lambda n_words, n_layers: max(n_words, n_layers),
            "the longer side alone is too little: the chain goes along the words *and* up through "
            "the layers.",
        ),
        Mistake(
            "attention",
            lambda n_words, n_layers: n_layers,
            "n_layers is the count for attention, where all words of a layer are computed at once. "
            "A recurrent layer must also go along the words.",
        ),
        Mistake(
            "a layer waits for two",
            lambda n_words, n_layers: n_words + 2 * (n_layers - 1),
            "each layer starts two rounds after the one below. One is enough: as soon as layer 1 "
            "has read word 1, layer 2 can.",
        ),
        Mistake(
            "layers meet in one round",
            lambda n_words, n_layers: n_words * n_layers - (n_layers - 1),
            "here a layer begins in the round in which the one below reads its last word. It can "
            "begin as soon as the one below has read the first.",
        ),
        Mistake(
            "one too few",
            lambda n_words, n_layers: n_words + n_layers - 2,
            "one too few: this counts the arrows between the steps, not the steps. With one layer "
            "and one word there is one step.",
        ),
    ],
    right="`waiting_steps` is right, for {n_cases} networks",
)
