"""The check of chapter 10 on layers until two ends of a sentence are connected (§4)."""

import math
from collections.abc import Callable

from transformer.analysis.cost import path_length
from walkthrough.checking.base import Check, Mistake, fixed


def _layers(n: int, k: int, dilated: bool) -> int:
    return path_length("dilated" if dilated else "convolutional", n=n, k=k)


def _until(reach: Callable[[int, int], float]) -> Callable[[int, int], int]:
    """Layers until the reach of the layers together, `reach(k, layers)`, spans n words."""

    def count(n: int, k: int) -> int:
        return next(layers for layers in range(1, n + 1) if reach(k, layers) >= n - 1)

    return count


def _either(
    contiguous: Callable[[int, int], int], dilated: Callable[[int, int], int]
) -> Callable[[int, int, bool], int]:
    return lambda n, k, is_dilated: (dilated if is_dilated else contiguous)(n, k)


def _contiguous(n: int, k: int) -> int:
    return _layers(n, k, False)


def _dilated(n: int, k: int) -> int:
    return _layers(n, k, True)


layers_needed = Check(
    name="layers_needed",
    reference=_layers,
    cases=[
        fixed("n = 9, k = 3, contiguous", 9, 3, False),
        fixed("n = 9, k = 3, dilated", 9, 3, True),
        fixed("n = 10, k = 3, dilated", 10, 3, True),
        fixed("n = 11, k = 5, contiguous", 11, 5, False),
        fixed("n = 100, k = 5, contiguous", 100, 5, False),
        fixed("n = 125, k = 5, dilated", 125, 5, True),
        fixed("n = 200, k = 5, dilated", 200, 5, True),
        fixed("n = 100, k = 10, dilated", 100, 10, True),
    ],
    tolerance=0.0,
    mistakes=[
        Mistake(
            "k positions a layer",
            _either(lambda n, k: math.ceil((n - 1) / k), _dilated),
            "contiguous: each layer is counted with a reach of k. A kernel of width k sees the "
            "position itself and k − 1 others, so a layer reaches k − 1 further.",
        ),
        Mistake(
            "n / k",
            _either(lambda n, k: math.ceil(n / k), _dilated),
            "contiguous: n/k is the order of growth, not the count. A layer reaches k − 1 further, "
            "and n − 1 steps lie between the ends.",
        ),
        Mistake(
            "n words to cross",
            _either(lambda n, k: math.ceil(n / (k - 1)), _dilated),
            "contiguous: nearly. From the last word to the first it is n − 1 words back, not n: "
            "the last word is in reach from the start.",
        ),
        Mistake(
            "centred",
            _either(
                _until(lambda k, layers: (k - 1) // 2 * layers),
                _until(lambda k, layers: (k**layers - 1) / 2),
            ),
            "these are layers with the kernel's middle on the position: they reach half as far to "
            "one side. Here the kernel looks at the position and at k − 1 before it.",
        ),
        Mistake(
            "rounded down",
            _either(lambda n, k: (n - 1) // (k - 1), lambda n, k: math.floor(math.log(n, k))),
            "where the division or the logarithm leaves a rest, one more layer is needed: round "
            "up, not down.",
        ),
        Mistake(
            "logarithm in floating point",
            _either(_contiguous, lambda n, k: math.ceil(math.log(n, k))),
            "nearly: `math.log(125, 5)` is a little above 3, so rounding up gives 4. Count with "
            "whole numbers: how often must 1 be multiplied by k until it is at least n?",
        ),
        Mistake(
            "logarithm of n − 1",
            _either(
                _contiguous,
                lambda n, k: next(layers for layers in range(n) if k**layers >= n - 1),
            ),
            "dilated: one too few when n is one more than a power of k. After L layers kᴸ "
            "positions are in reach, *the position itself among them*; n of them are needed.",
        ),
        Mistake(
            "gaps that double",
            _either(_contiguous, _until(lambda k, layers: (k - 1) * (2**layers - 1))),
            "dilated: here the gaps double from layer to layer. The paper's log_k(n) needs gaps "
            "that grow k-fold: 1, k, k², …",
        ),
        Mistake(
            "contiguous ones centred",
            _either(_until(lambda k, layers: (k - 1) // 2 * layers), _dilated),
            "contiguous: these are layers with the kernel's middle on the position. Here the "
            "kernel looks at the position and at k − 1 before it.",
        ),
        Mistake(
            "not rounded",
            lambda n, k, dilated: math.log(n, k) if dilated else (n - 1) / (k - 1),
            "a number of layers is whole. Where the division or the logarithm leaves a rest, one "
            "more layer is needed.",
        ),
        Mistake(
            "rounded to the nearest",
            _either(lambda n, k: round((n - 1) / (k - 1)), lambda n, k: round(math.log(n, k))),
            "rounded to the nearest whole number. A rest, however small, needs one more layer.",
        ),
        Mistake(
            "rounded down, then one more",
            _either(_contiguous, lambda n, k: math.floor(math.log(n, k)) + 1),
            "dilated: one more is added to what is rounded down, also where nothing was left over: "
            "for n = 9 and k = 3 two layers are enough.",
        ),
        Mistake(
            "orders of growth",
            _either(lambda n, k: math.ceil(n / k), lambda n, k: math.ceil(math.log(n, k))),
            "n/k and log_k n say how the numbers grow, they do not count. Contiguous: a layer "
            "reaches k − 1 further, and n − 1 steps lie between the ends. Dilated: count with "
            "whole numbers, `math.log` is not exact.",
        ),
        Mistake(
            "a word a layer",
            _either(lambda n, k: n - 1, _dilated),
            "contiguous: each layer is counted with a reach of one word. A kernel of width k "
            "reaches k − 1 words further back.",
        ),
        Mistake(
            "gap before use",
            _either(
                _contiguous,
                _until(lambda k, layers: (k - 1) * sum(k**i for i in range(1, layers + 1))),
            ),
            "dilated: the gap grows before it is used. In the first layer it is 1.",
        ),
        Mistake(
            "base 2",
            _either(_contiguous, lambda n, k: math.ceil(math.log2(n))),
            "dilated: that is the logarithm to the base 2. The base is k.",
        ),
        Mistake(
            "natural logarithm",
            _either(_contiguous, lambda n, k: math.ceil(math.log(n))),
            "dilated: that is the natural logarithm. The base is k.",
        ),
        Mistake(
            "always contiguous",
            _either(_contiguous, _contiguous),
            "`dilated` changes nothing in your function.",
        ),
        Mistake(
            "always dilated",
            _either(_dilated, _dilated),
            "`dilated=False` is treated like `True`: contiguous kernels have no gaps.",
        ),
    ],
    right="`layers_needed` is right, for contiguous and for dilated kernels",
)
