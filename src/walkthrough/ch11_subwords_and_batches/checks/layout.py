"""The check of chapter 11 on a batch: how its sentences are laid out (§5.1)."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from transformer.config import BOS_ID, EOS_ID, PAD_ID
from walkthrough.checking import Case, Check, Mistake, fixed

Pair = tuple[list[int], list[int]]
Keep = Callable[[list[Pair], int], list[Pair]]
Laid = tuple[Tensor, Tensor, Tensor]


def _those_that_fit(
    fits: Callable[[int, int, int], bool] = lambda source, target, most: max(source, target) < most,
) -> Keep:
    return lambda pairs, most: [pair for pair in pairs if fits(len(pair[0]), len(pair[1]), most)]


def _layer(
    *,
    keep: Keep = _those_that_fit(),  # noqa: B008  # a pure function
    reads_marks: tuple[list[int], list[int]] = ([BOS_ID], []),
    gold_marks: tuple[list[int], list[int]] = ([], [EOS_ID]),
    front: bool = False,
    width: str = "own",
) -> Callable[[list[Pair], int], Laid]:
    """Lay out the pairs that fit, with one thing changed."""

    def lay(pairs: list[Pair], max_len: int) -> Laid:
        kept = keep(pairs, max_len)
        source_marks: tuple[list[int], list[int]] = ([], [EOS_ID])
        sides = ((source_marks, 0), (reads_marks, 1), (gold_marks, 1))
        rows = [[[*marks[0], *pair[side], *marks[1]] for pair in kept] for marks, side in sides]
        own = [max(map(len, some)) for some in rows]
        widths = {"own": own, "limit": [max_len] * 3, "all": [max(own)] * 3}[width]
        made = [
            torch.tensor([_filled(row, wide) for row in some])
            for some, wide in zip(rows, widths, strict=True)
        ]
        return made[0], made[1], made[2]

    def _filled(row: list[int], wide: int) -> list[int]:
        fill = [PAD_ID] * (wide - len(row))
        return [*fill, *row] if front else [*row, *fill]

    return lay


def _laid(name: str, say: str, **changes: Any) -> Mistake:
    return Mistake(name, _layer(**changes), say)


def _pairs(label: str, lengths: Sequence[tuple[int, int]], max_len: int) -> Case:
    """Pairs of these lengths, without marks, and a limit."""
    pairs = [
        ([10 * n + k for k in range(4, 4 + source)], [500 + 10 * n + k for k in range(target)])
        for n, (source, target) in enumerate(lengths, start=1)
    ]
    return fixed(label, pairs, max_len)


_laid_out = _layer()

lay_out = Check(
    name="lay_out",
    reference=_laid_out,
    cases=[
        _pairs("three pairs of different lengths", [(4, 3), (2, 5), (3, 1)], 9),
        _pairs("one pair", [(3, 2)], 9),
        _pairs("a pair that fits exactly, end token included", [(2, 3), (5, 5)], 6),
        _pairs("a source that is too long with its end token", [(6, 2), (3, 4), (2, 2)], 6),
        _pairs("a target that is too long with its end token", [(3, 4), (2, 6), (2, 2)], 6),
        _pairs("pairs that are far too long on one side", [(3, 4), (12, 4), (2, 5), (2, 11)], 7),
        _pairs("a pair that is far too long on both sides", [(3, 4), (12, 11)], 7),
    ],
    mistakes=[
        _laid(
            "end token not counted",
            "a row may be `max_len` tokens long *with* its end token. You compare the length "
            "without it, so a pair slips in that is one too long.",
            keep=_those_that_fit(lambda s, t, most: max(s, t) <= most),
        ),
        _laid(
            "cut",
            "pairs that are too long are cut. Leave them out: a cut source and a cut target need "
            "not say the same.",
            keep=lambda pairs, most: [(s[: most - 1], t[: most - 1]) for s, t in pairs],
        ),
        _laid(
            "padded to the limit",
            "all rows are padded to `max_len`. A batch is as wide as its longest row.",
            width="limit",
        ),
        _laid(
            "one width for all",
            "all three tensors have one width. Source and target are padded each to their own "
            "longest row.",
            width="all",
        ),
        _laid(
            "padding in front",
            "the padding stands in front of the tokens, so their positions move. It comes last.",
            front=True,
        ),
        _laid(
            "gold without end",
            "the gold has no end token, so the model is never asked to stop. It is also one token "
            "shorter than what is read.",
            gold_marks=([], []),
        ),
        _laid(
            "reads with end",
            "the decoder reads the end token too. After the end nothing is predicted, so nothing "
            "is read.",
            reads_marks=([BOS_ID], [EOS_ID]),
        ),
        _laid(
            "not shifted",
            "the decoder reads the gold itself, unshifted. It reads a start token and the target, "
            "without the end.",
            reads_marks=([], [EOS_ID]),
        ),
    ],
    right="`lay_out` is right: padded, shifted, and nothing cut",
)
