"""The check of chapter 07 on the step from one position to another (§3.5)."""

from collections.abc import Callable
from math import cos, sin, tau
from typing import Any

import torch
from torch import Tensor

from walkthrough.checking.base import Arguments, Check, Mistake, Symptom, fixed

Rotate = Callable[[int, int], Tensor]


def _rotation(*, base: float = 10000.0, times: float = 1.0, same_angle: bool = False) -> Rotate:
    """The matrix for every k and d_model, with one thing changed."""

    def rotate(k: int, d_model: int) -> Tensor:
        matrix = torch.zeros(d_model, d_model, dtype=torch.float64)
        for even in range(0, d_model, 2):
            angle = torch.tensor(times * k / (1.0 if same_angle else base ** (even / d_model)))
            matrix[even, even] = matrix[even + 1, even + 1] = angle.cos()
            matrix[even, even + 1], matrix[even + 1, even] = angle.sin(), -angle.sin()
        return matrix.float()

    return rotate


def _in_halves(k: int, d_model: int) -> Tensor:
    order = torch.cat([torch.arange(0, d_model, 2), torch.arange(1, d_model, 2)])
    return _rotation()(k, d_model)[order][:, order]


def _without_signs(k: int, d_model: int) -> Tensor:
    matrix, odd = _rotation()(k, d_model), torch.arange(1, d_model, 2)
    matrix[odd, odd - 1] *= -1
    return matrix


def _both_minus(k: int, d_model: int) -> Tensor:
    matrix, even = _rotation()(k, d_model), torch.arange(0, d_model, 2)
    matrix[even, even + 1] *= -1
    return matrix


def _multiplied(k: int, d_model: int) -> Tensor:
    matrix = torch.zeros(d_model, d_model)
    for even in range(0, d_model, 2):
        angle = k * 10000.0 ** (even / d_model)
        matrix[even, even] = matrix[even + 1, even + 1] = cos(angle)
        matrix[even, even + 1], matrix[even + 1, even] = sin(angle), -sin(angle)
    return matrix


def _exchanged(k: int, d_model: int) -> Tensor:
    quarter = torch.zeros(d_model, d_model)
    even = torch.arange(0, d_model, 2)
    quarter[even, even + 1], quarter[even + 1, even] = 1.0, -1.0
    return _rotation(times=-1.0)(k, d_model) @ quarter


def _minus_on_the_diagonal(k: int, d_model: int) -> Tensor:
    matrix, odd = _without_signs(k, d_model), torch.arange(1, d_model, 2)
    matrix[odd, odd] *= -1
    return matrix


def _loose_blocks(result: Any, expected: Tensor, given: Arguments) -> bool:
    blocks = result if isinstance(result, Tensor) else torch.stack(list(result))
    return blocks.shape == (len(expected) // 2, 2, 2)


rotation = Check(
    name="one matrix moves every position by k",
    reference=_rotation(),
    cases=[
        fixed("k = 1 and d_model = 4", 1, 4),
        fixed("k = 7 and d_model = 16", 7, 16),
        fixed("k = −3 and d_model = 16", -3, 16),
    ],
    tolerance=1e-4,
    mistakes=[
        Mistake(
            "both sines with a minus",
            _both_minus,
            "both corners of your 2×2 blocks have a minus, so they are no rotations. Only the "
            "lower left one has it.",
        ),
        Mistake(
            "cosines negative",
            lambda k, d_model: -_rotation(times=-1.0)(k, d_model),
            "the cosines have a minus. For k = 0 nothing may move, so the cosine stands on the "
            "diagonal as it is.",
        ),
        Mistake(
            "cosines only",
            lambda k, d_model: _rotation()(k, d_model).diag().diag(),
            "the cosines are right and the sines are missing: nothing passes from one half of a "
            "pair to the other.",
        ),
        Mistake(
            "multiplied by the power",
            _multiplied,
            "you multiply k by 10000^(2i/d_model); it is divided by it.",
        ),
        Mistake(
            "entry by entry",
            lambda k, d_model: _rotation()(1, d_model) ** k,
            "`**` takes each entry to the power k. A product of matrices is meant: "
            "`torch.matrix_power`, or the angle k times as large.",
        ),
        Mistake(
            "k times the matrix",
            lambda k, d_model: k * _rotation()(1, d_model),
            "you multiply the matrix of one step by k, which makes vectors k times as long. k "
            "steps are a rotation by k times the *angle*.",
        ),
        Mistake(
            "rows of the blocks exchanged",
            lambda k, d_model: _rotation()(k, d_model).unflatten(0, (-1, 2)).flip(1).flatten(0, 1),
            "the two rows of your blocks have changed places. The sine comes first in a pair, so "
            "the first row of a block is cos, sin.",
        ),
        Mistake(
            "columns of the blocks exchanged",
            lambda k, d_model: _rotation()(k, d_model).unflatten(1, (-1, 2)).flip(2).flatten(1, 2),
            "the two columns of your blocks have changed places. For k = 0 nothing may move, so "
            "the cosine stands on the diagonal.",
        ),
        Mistake(
            "blocks from last to first",
            lambda k, d_model: _rotation()(k, d_model).flip(0).flip(1),
            "the pairs are counted from the last, and each is turned back. The first block belongs "
            "to the first pair, whose angle is k.",
        ),
        Mistake(
            "stays for negative k",
            lambda k, d_model: _rotation()(max(k, 0), d_model),
            "right for positive k. For a negative k your matrix leaves everything where it is: "
            "a loop over `range(k)` does nothing then.",
        ),
        Mistake(
            "one block",
            lambda k, d_model: _rotation()(k, 2),
            "this is a single block. There is one for each pair, along the diagonal, each with "
            "its own angle.",
        ),
        Mistake(
            "wrong sign",
            _rotation(times=-1.0),
            "this matrix maps PE(pos) to PE(pos − k): it turns the wrong way. "
            "In a pair the sine comes first, so the minus stands in the lower left corner. "
            "(The transposed matrix is the same mistake: it turns back.)",
        ),
        Mistake(
            "no minus",
            _without_signs,
            "neither corner of your 2×2 blocks has a minus, so they are no rotations. "
            "cos(a + b) = cos a cos b − sin a sin b.",
        ),
        Mistake(
            "blocks for concatenated halves",
            _in_halves,
            "your matrix is right for an encoding with all sines first. Here the sine and cosine "
            "of one angle stand side by side, so 2×2 blocks stand along the diagonal.",
        ),
        Mistake(
            "sine and cosine exchanged",
            _exchanged,
            "sine and cosine have changed places in your blocks. For k = 0 nothing may move, so "
            "the cosine stands on the diagonal.",
        ),
        Mistake(
            "minus in front of a cosine",
            _minus_on_the_diagonal,
            "the minus stands on the diagonal. It belongs to one of the sines.",
        ),
        Mistake(
            "index never doubled",
            _rotation(base=10000.0**0.5),
            "the later pairs turn too much: pair i has the exponent 2i/d_model, not i/d_model.",
        ),
        Mistake(
            "turns instead of radians",
            _rotation(times=tau),
            "your angles are 2π times too large: pair i turns by k / 10000^(2i/d_model) as it is.",
        ),
        Mistake(
            "one angle for all pairs",
            _rotation(same_angle=True),
            "you turn every pair by k. Pair i turns by k / 10000^(2i/d_model).",
        ),
        Mistake("base 1000", _rotation(base=1000.0), "the angles use base 1000; it is 10000."),
        Mistake(
            "index doubled twice",
            _rotation(base=10000.0**2),
            "the later pairs turn too little: i is doubled twice. If your index runs 0, 2, 4, …, "
            "it is 2i already: the angle is k / 10000^(index/d_model).",
        ),
        Mistake(
            "identity",
            lambda k, d_model: torch.eye(d_model),
            "this matrix leaves every encoding where it is: `k` does nothing.",
        ),
        Mistake(
            "k always 1",
            lambda k, d_model: _rotation()(1, d_model),
            "your matrix goes one position on, whatever `k` says.",
        ),
        Mistake(
            "backwards is forwards",
            lambda k, d_model: _rotation()(abs(k), d_model),
            "right for positive k. For a negative k it goes forwards: keep the sign of k.",
        ),
        Mistake(
            "doubled",
            _rotation(times=2.0),
            "your matrix goes 2k positions on. Pair i turns by k / 10000^(2i/d_model).",
        ),
        Mistake(
            "one too far",
            lambda k, d_model: _rotation()(k + 1, d_model),
            "your matrix goes k + 1 positions on.",
        ),
        Mistake(
            "dimensions shifted",
            lambda k, d_model: torch.eye(d_model).roll(k, dims=0),
            "this matrix moves the dimensions by k. It should leave each value in its pair and "
            "turn the pair.",
        ),
    ],
    symptoms=[
        Symptom(
            "loose blocks",
            _loose_blocks,
            "these are the 2×2 blocks, one a pair. Put them along the diagonal of one matrix: "
            "`torch.block_diag(*blocks)`.",
        ),
        Symptom(
            "moved encodings",
            lambda result, expected, given: (
                len(result) != len(expected) and result.shape[-1] == len(expected)
            ),
            "these are encodings that were moved. Asked is the matrix that moves them, shape "
            "(d_model, d_model).",
        ),
    ],
)
