"""The check of chapter 21 on the multiplications of a matrix product."""

from collections.abc import Sequence
from math import prod

import numpy as np

from walkthrough.checking import Case, Check, Mistake, fixed

Shape = Sequence[int]


def _batch(left: Shape, right: Shape) -> int:
    """Number of products, where a size of 1, or none, is repeated as the other one asks."""
    n = max(len(left), len(right))
    pairs = zip(*([1] * (n - len(s)) + list(s[:-2]) + [1, 1] for s in (left, right)), strict=True)
    return prod(max(pair) for pair in pairs)


def _multiplications(left: Shape, right: Shape) -> int:
    return _batch(left, right) * left[-2] * left[-1] * right[-1]


def _case(label: str, left: Shape, right: Shape) -> Case:
    return fixed(label, list(left), list(right))


multiplications = Check(
    name="the multiplications of a product",
    reference=_multiplications,
    cases=[
        _case("two matrices", (3, 4), (4, 5)),
        _case("heads side by side", (2, 4, 7, 16), (2, 4, 16, 6)),
        _case("a batch times one matrix", (3, 6, 8), (8, 5)),
        _case("one matrix times a batch", (6, 8), (3, 8, 5)),
        _case("batches of which one is 1 wide", (1, 4, 7, 3), (2, 1, 3, 5)),
    ],
    mistakes=[
        Mistake(
            "additions too",
            lambda left, right: 2 * _multiplications(left, right),
            "this is twice the number: you count the additions too. Here, multiplications alone.",
        ),
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
        Mistake(
            "both batches",
            lambda left, right: prod(left) * prod(right[:-2]) * right[-1],
            "batch sizes that both shapes have are counted twice: the products stand side by "
            "side, each left one meets one right one.",
        ),
        Mistake(
            "the right batch",
            lambda left, right: prod(right[:-2]) * left[-2] * left[-1] * right[-1],
            "you take how many products there are from the right shape alone. The left one may "
            "have a batch too; a size of 1 is repeated.",
        ),
        Mistake(
            "the larger batch",
            lambda left, right: (
                max(prod(left[:-2]), prod(right[:-2])) * left[-2] * left[-1] * right[-1]
            ),
            "you take the larger of the two batches. Compare size by size: (1, 4) and (2, 1) "
            "become (2, 4).",
        ),
        Mistake(
            "batches from the left",
            lambda left, right: (
                prod(map(max, left[:-2], right[:-2])) * left[-2] * left[-1] * right[-1]
            ),
            "a batch that only one shape has is lost. A missing size is repeated like a 1.",
        ),
        Mistake(
            "batch sizes added",
            lambda left, right: (
                sum(np.broadcast_shapes(tuple(left[:-2]), tuple(right[:-2])))
                * (left[-2] * left[-1] * right[-1])
            ),
            "you add the batch sizes. A batch of 2 by 4 has 8 products.",
        ),
        Mistake(
            "the first two sizes",
            lambda left, right: left[0] * left[1] * right[-1],
            "you read the first two sizes. A matrix stands in the *last* two.",
        ),
        Mistake(
            "the shared size twice",
            lambda left, right: _batch(left, right) * left[-2] * left[-1] * right[-2],
            "you take the shared size twice and leave the columns of the right one out: "
            "`right[-1]`.",
        ),
        Mistake(
            "the rows twice",
            lambda left, right: _multiplications(left, right) * left[-2],
            "the rows of the left one are in your product twice. Each row meets each column once.",
        ),
        Mistake(
            "the columns twice",
            lambda left, right: _multiplications(left, right) * right[-1],
            "the columns of the right one are in your product twice. Each row meets each column "
            "once.",
        ),
        Mistake(
            "additions alone",
            lambda left, right: _batch(left, right) * left[-2] * (left[-1] - 1) * right[-1],
            "you count additions: a sum of n terms has n − 1. Each of its n terms is one "
            "multiplication.",
        ),
        Mistake(
            "multiplications and additions",
            lambda left, right: _batch(left, right) * left[-2] * (2 * left[-1] - 1) * right[-1],
            "you count the additions too. Here, multiplications alone.",
        ),
        Mistake(
            "entries of the left",
            lambda left, right: prod(left),
            "that is how many numbers `left` holds. Each is multiplied once for every column of "
            "the right one.",
        ),
    ],
)
