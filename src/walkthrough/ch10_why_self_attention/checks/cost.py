"""The checks of chapter 10, why self-attention (§4)."""

from collections.abc import Callable

from walkthrough.checking.base import Check, Mistake, fixed

# Exercise: multiplications of a whole self-attention layer


def _products(projections: int = 4, pairs: int = 2) -> Callable[[int, int], int]:
    return lambda n, d: projections * n * d * d + pairs * n * n * d


layer_products = Check(
    name="layer_products",
    reference=_products(),
    cases=[
        fixed("n = 5, d = 3", 5, 3),
        fixed("n = 30, d = 512", 30, 512),
        fixed("n = 2048, d = 512", 2048, 512),
    ],
    tolerance=0.0,
    mistakes=[
        Mistake(
            "no projections",
            _products(projections=0),
            "that is QKᵀ and weights times V. The four projections are missing: each multiplies n "
            "rows of d numbers with a d × d matrix.",
        ),
        Mistake(
            "Table 1's row",
            _products(projections=0, pairs=1),
            "that is the row of Table 1 without its constant. Count the products of the layer: two "
            "over pairs of words, four with weight matrices.",
        ),
        Mistake(
            "no W^O",
            _products(projections=3),
            "three projections are counted. After the heads comes a fourth matrix, W^O.",
        ),
        Mistake(
            "one projection",
            _products(projections=1),
            "one projection is counted. There are four: W^Q, W^K, W^V and W^O.",
        ),
        Mistake(
            "one product over pairs",
            _products(pairs=1),
            "one product over pairs of words is counted. There are two: QKᵀ, and weights times V.",
        ),
        Mistake(
            "floating-point operations",
            lambda n, d: 2 * (4 * n * d * d + 2 * n * n * d),
            "everything is there, twice. A multiplication and its addition are two floating-point "
            "operations; the question is about multiplications.",
        ),
        Mistake(
            "n and d exchanged",
            lambda n, d: 4 * n * n * d + 2 * n * d * d,
            "n and d have changed places. A projection costs d · d for each word, a product over "
            "pairs of words d for each pair.",
        ),
        Mistake(
            "projections of one word",
            lambda n, d: 4 * d * d + 2 * n * n * d,
            "the projections are counted for one word. There are n words.",
        ),
        Mistake(
            "all with d²",
            _products(projections=6, pairs=0),
            "all six products are counted as n · d². Two of them multiply words with words: their "
            "outer sides are n and n, and the sum runs over d.",
        ),
    ],
    right="`layer_products` is right, for three sizes",
)

# Exercise: where a whole layer meets a recurrent one

crossing = Check(
    name="crossing",
    reference=lambda pairs, d: max(0, (pairs - 2) * d),
    cases=[
        fixed("a plain recurrence, pairs = 1, d = 512", 1, 512),
        fixed("pairs = 2, d = 512", 2, 512),
        fixed("a GRU, pairs = 3, d = 512", 3, 512),
        fixed("an LSTM, pairs = 4, d = 64", 4, 64),
        fixed("pairs = 7, d = 10", 7, 10),
    ],
    tolerance=1e-6,
    mistakes=[
        Mistake(
            "no projections",
            lambda pairs, d: pairs * d,
            "that compares with the two products over pairs alone. The layer has four projections "
            "as well, which cost 4 n d².",
        ),
        Mistake(
            "always d",
            lambda pairs, d: d,
            "n = d holds for Table 1's rows. Here a whole layer meets a recurrence with "
            "`pairs` pairs of matrices; set the two costs equal and solve for n.",
        ),
        Mistake(
            "below zero",
            lambda pairs, d: (pairs - 2) * d,
            "for fewer than two pairs this is negative: the layer is never the cheaper one. Return "
            "0 then.",
        ),
        Mistake(
            "one matrix a pair",
            lambda pairs, d: max(0, (pairs - 4) * d / 2),
            "one matrix a pair is counted. There are two: one for the word, one for the state "
            "before.",
        ),
        Mistake(
            "one product over pairs",
            lambda pairs, d: max(0, (2 * pairs - 4) * d),
            "that is twice too large: one product over pairs is counted. There are two, QKᵀ and "
            "weights times V.",
        ),
        Mistake(
            "three projections",
            lambda pairs, d: max(0, (2 * pairs - 3) * d / 2),
            "three projections are counted. W^O is the fourth.",
        ),
    ],
    right="`crossing` is right, from a plain recurrence to seven pairs of matrices",
)
