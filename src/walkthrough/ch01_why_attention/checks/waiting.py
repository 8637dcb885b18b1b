"""The check of chapter 01 on how long a tower of recurrent layers must wait (§1)."""

import math
from collections.abc import Callable

from walkthrough.checking.base import Check, Mistake, Symptom, fixed


def _waits(n_words: int, n_layers: int) -> int:
    return n_words + n_layers - 1


def _grid(combined: Callable[[int, int], int]) -> Callable[[int, int], int]:
    """Return a count over the grid of states, each one more than what `combined` makes of two."""

    def count(n_words: int, n_layers: int) -> int:
        below = [0] * (n_words + 1)
        for _ in range(n_layers):
            row = [0]
            for word in range(1, n_words + 1):
                row.append(1 + combined(row[-1], below[word]))
            below = row
        return below[-1]

    return count


waiting_steps = Check(
    name="waiting_steps",
    reference=_waits,
    cases=[
        fixed("5 words, 2 layers", 5, 2),
        fixed("50 words, 6 layers", 50, 6),
        fixed("1 word, 4 layers", 1, 4),
        fixed("9 words, 1 layer", 9, 1),
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
            "corner not counted",
            lambda n_words, n_layers: n_words * n_layers - 1,
            "this counts all steps but one. Many of them can run in the same round: draw the grid "
            "and write into each cell the first round in which it can be computed.",
        ),
        Mistake(
            "shorter side",
            lambda n_words, n_layers: min(n_words, n_layers),
            "the shorter side is the number of states that can run in one round at most. Asked is "
            "how many rounds there are.",
        ),
        Mistake(
            "two too many",
            lambda n_words, n_layers: n_words + n_layers + 1,
            "two too many: with one layer and one word there is one round, not three.",
        ),
        Mistake(
            "one layer of delay",
            lambda n_words, n_layers: n_words + 1,
            "right for two layers. Each further layer starts one round later again.",
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
            "diagonals of a square",
            lambda n_words, n_layers: 2 * max(n_words, n_layers) - 1,
            "right for as many layers as words: you count the diagonals of a square. The grid is "
            "n_words wide and n_layers high.",
        ),
        Mistake(
            "one too few",
            lambda n_words, n_layers: n_words + n_layers - 2,
            "one too few: this counts the arrows between the steps, not the steps. With one layer "
            "and one word there is one step.",
        ),
        Mistake(
            "squares between",
            lambda n_words, n_layers: (n_words - 1) * (n_layers - 1),
            "(n_words − 1) · (n_layers − 1) counts the squares between the states of the grid. "
            "Count the rounds on the longest way from corner to corner.",
        ),
        Mistake(
            "squares between, and one",
            lambda n_words, n_layers: (n_words - 1) * (n_layers - 1) + 1,
            "the ways along the words and up the layers are multiplied. They come one after the "
            "other, so they are added.",
        ),
        Mistake(
            "ways counted",
            lambda n_words, n_layers: math.comb(n_words + n_layers - 2, n_words - 1),
            "this counts how many ways lead from corner to corner. Asked is how long one of them "
            "is.",
        ),
        Mistake(
            "rounds added",
            _grid(lambda before, below: before + below),
            "you add the rounds of the two states that a state waits for. Both run at the same "
            "time, so it waits for the later one: `max`.",
        ),
        Mistake(
            "mean of the sides",
            lambda n_words, n_layers: (n_words + n_layers) // 2,
            "this is half of words and layers together. The chain goes along all the words *and* "
            "up through all the layers.",
        ),
        Mistake(
            "two at a time",
            lambda n_words, n_layers: math.ceil(n_words * n_layers / 2),
            "this shares all states out between two processors. You have as many as you like, and "
            "what limits them is which states are ready.",
        ),
    ],
    symptoms=[
        Symptom(
            "the rounds themselves",
            lambda result, expected, given: len(result) == expected > 1,
            "there is an entry for each round. Their number is asked for.",
        ),
    ],
    right="`waiting_steps` is right, for four networks",
)
