"""The check of chapter 21 on the multiplications of a matrix product."""

from collections.abc import Sequence
from math import prod

import torch

from walkthrough.checking import Case, Check, Mistake, fixed

Shape = Sequence[int]


def _batch(left: Shape, right: Shape) -> int:
    """Number of products, where a size of 1, or none, is repeated as the other one asks."""
    return prod(torch.broadcast_shapes(left[:-2], right[:-2]))


def _multiplications(left: Shape, right: Shape) -> int:
    return _batch(left, right) * left[-2] * left[-1] * right[-1]


def _case(label: str, left: Shape, right: Shape) -> Case:
    return fixed(label, list(left), list(right))


multiplications = Check(
    name="the multiplications of a product",
    reference=_multiplications,
    cases=[
        _case("two matrices", (3, 4), (4, 5)),
        _case("a row times a column", (1, 7), (7, 1)),
        _case("batches of which one has a size less", (2, 4, 7, 16), (4, 16, 6)),
        _case("a batch times one matrix", (3, 6, 8), (8, 5)),
        _case("one matrix times a batch", (6, 8), (3, 8, 5)),
        _case("batches of which one is 1 wide", (1, 4, 7, 3), (2, 1, 3, 5)),
        _case("an empty batch", (0, 2, 3), (1, 3, 5)),
    ],
    mistakes=[
        Mistake(
            "one of the batch",
            lambda left, right: left[-2] * left[-1] * right[-1],
            "this is the number for one product. The sizes before the last two say how many "
            "products there are.",
        ),
        Mistake(
            "size of the result",
            lambda left, right: _batch(left, right) * left[-2] * right[-1],
            "this is how many numbers the result holds. Each of them is a sum over the shared "
            "size, and each term of it is one multiplication.",
        ),
        Mistake(
            "all sizes",
            lambda left, right: prod(left) * prod(right),
            "you multiply all sizes of both. The shared size, the last of the left and the last "
            "but one of the right, counts once, and so do shared batch sizes.",
        ),
        Mistake(
            "the left batch",
            lambda left, right: prod(left) * right[-1],
            "you take how many products there are from the left shape alone. The right one may "
            "have a batch too; a size of 1 is repeated.",
        ),
    ],
)
