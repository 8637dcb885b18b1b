"""The check of chapter 10 on layers until two ends of a sentence are connected (§4)."""

import math
from collections.abc import Callable

from transformer.analysis.cost import path_length
from walkthrough.checking import Check, Mistake, fixed

Count = Callable[[int, int], int]


def _until(reach: Callable[[int, int], float]) -> Count:
    """Layers until the reach of the layers together, `reach(k, layers)`, spans n words."""

    def count(n: int, k: int) -> int:
        return next(layers for layers in range(1, n + 1) if reach(k, layers) >= n - 1)

    return count


def _either(
    contiguous: Count = lambda n, k: path_length("convolutional", n=n, k=k),
    dilated: Count = lambda n, k: path_length("dilated", n=n, k=k),
) -> Callable[[int, int, bool], int]:
    """The number of layers, with another rule for one kind of kernel; the defaults are right."""
    return lambda n, k, is_dilated: (dilated if is_dilated else contiguous)(n, k)


def _dilated_by_k(k: int, layers: int) -> int:
    return sum(k ** (layer + 1) for layer in range(layers))


layers_needed = Check(
    name="layers_needed",
    reference=_either(),
    cases=[
        fixed("n = 9, k = 3, contiguous", 9, 3, False),
        fixed("n = 9, k = 3, dilated", 9, 3, True),
        fixed("n = 10, k = 3, dilated", 10, 3, True),
        fixed("n = 11, k = 5, contiguous", 11, 5, False),
        fixed("n = 100, k = 5, contiguous", 100, 5, False),
        fixed("n = 125, k = 5, dilated", 125, 5, True),
        fixed("n = 200, k = 5, dilated", 200, 5, True),
        fixed("n = 100, k = 10, dilated", 100, 10, True),
        fixed("n = 2, k = 3, contiguous", 2, 3, False),
        fixed("n = 4, k = 7, dilated", 4, 7, True),
        fixed("n = 2, k = 2, dilated", 2, 2, True),
    ],
    tolerance=0.0,
    mistakes=[
        Mistake(
            "k positions a layer",
            _either(lambda n, k: math.ceil((n - 1) / k)),
            "contiguous: each layer is counted with a reach of k. A kernel of width k sees the "
            "position itself and k − 1 others, so a layer reaches k − 1 further.",
            "A kernel of width k that reaches k further",
            (
                _either(lambda n, k: math.ceil(n / k)),
                _either(_until(lambda k, layers: k * layers), _until(_dilated_by_k)),
            ),
        ),
        Mistake(
            "n words to cross",
            _either(lambda n, k: math.ceil(n / (k - 1))),
            "contiguous: nearly. From the last word to the first it is n − 1 words back, not n: "
            "the last word is in reach from the start.",
            also=(
                _either(
                    _until(lambda k, layers: (k - 1) * layers - 1),
                    _until(lambda k, layers: k**layers - 2),
                ),
            ),
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
            "logarithm rounded down",
            _either(dilated=lambda n, k: math.floor(math.log(n, k))),
            "dilated: where the logarithm leaves a rest, one more layer is needed: round up, not "
            "down.",
        ),
        Mistake(
            "logarithm in floating point",
            _either(dilated=lambda n, k: math.ceil(math.log(n, k))),
            "nearly: `math.log(125, 5)` is a little above 3, so rounding up gives 4. Count with "
            "whole numbers: how often must 1 be multiplied by k until it is at least n?",
        ),
        Mistake(
            "gaps that double",
            _either(dilated=_until(lambda k, layers: (k - 1) * (2**layers - 1))),
            "dilated: here the gaps double from layer to layer. The paper's log_k(n) needs gaps "
            "that grow k-fold: 1, k, k², …",
        ),
    ],
    right="`layers_needed` is right, for contiguous and for dilated kernels",
)
