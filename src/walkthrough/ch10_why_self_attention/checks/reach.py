"""Checks on who can reach whom, for chapter 10: restricted attention, stacked convolutions (§4)."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from transformer.analysis.cost import path_length
from transformer.masks import neighbourhood_mask
from walkthrough.checking.base import Check, Mistake, Symptom, fixed

# Exercise: the mask of restricted attention


def _offsets(length: int) -> Tensor:
    position = torch.arange(length)
    return position[:, None] - position  # query − key


def _neighbourhood(length: int, r: int) -> Tensor:
    return neighbourhood_mask(length, r)[0, 0]


neighbourhood = Check(
    name="neighbourhood",
    reference=_neighbourhood,
    cases=[
        fixed("7 words, r = 3", 7, 3),
        fixed("9 words, r = 5", 9, 5),
        fixed("4 words, r = 7", 4, 7),
    ],
    mistakes=[
        Mistake(
            "r to each side",
            lambda length, r: _offsets(length).abs() <= r,
            "each word sees r words to each side, 2r + 1 in all. The neighbourhood has r words "
            "in all, the word itself in the middle.",
        ),
        Mistake(
            "one short",
            lambda length, r: _offsets(length).abs() < r // 2,
            "the neighbourhood is one word short on each side: use `<=` for the distance.",
        ),
        Mistake(
            "only before",
            lambda length, r: (_offsets(length) >= 0) & (_offsets(length) < r),
            "each word sees itself and the r − 1 words before it: that is a window for a decoder. "
            "Here the word stands in the middle.",
        ),
        Mistake(
            "only after",
            lambda length, r: (_offsets(length) <= 0) & (_offsets(length) > -r),
            "each word sees itself and the r − 1 words after it. Here the word stands in the "
            "middle.",
        ),
        Mistake(
            "no distance, all that follow",
            lambda length, r: _offsets(length) <= r // 2,
            "each word sees *every* word after it: a difference of positions is negative there, "
            "and so below any limit. Compare its absolute value.",
        ),
        Mistake(
            "no distance, all before",
            lambda length, r: -_offsets(length) <= r // 2,
            "each word sees *every* word before it: a difference of positions is negative there, "
            "and so below any limit. Compare its absolute value.",
        ),
        Mistake(
            "inverted",
            lambda length, r: ~_neighbourhood(length, r),
            "the truth values are inverted. In this book True means *may attend*.",
        ),
        Mistake(
            "around the ends",
            lambda length, r: (
                torch.minimum(_offsets(length) % length, -_offsets(length) % length) <= r // 2
            ),
            "the first word sees the last one: the neighbourhood goes around the ends of the "
            "sentence.",
        ),
        Mistake(
            "numbers to add",
            lambda length, r: torch.zeros(length, length).masked_fill(
                ~_neighbourhood(length, r), -math.inf
            ),
            "these are numbers to add to the scores, 0 and −∞. The package wants the mask itself: "
            "booleans, True where a word may attend.",
        ),
        Mistake(
            "ones and zeros",
            lambda length, r: _neighbourhood(length, r).float(),
            "the places are right, the values are numbers. A mask is boolean: a comparison gives "
            "one.",
        ),
    ],
    symptoms=[
        Symptom(
            "dimensions for sentences and heads",
            lambda result, expected, given: result.dim() > 2,
            "your mask has dimensions for sentences and heads. Return the map alone, with the "
            "shape (length, length).",
        ),
    ],
    right="`neighbourhood` is right, also where r is wider than the sentence",
)

# Exercise: layers until two ends are connected


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
            "base 2",
            _either(_contiguous, lambda n, k: math.ceil(math.log2(n))),
            "dilated: that is the logarithm to the base 2. The base is k.",
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
