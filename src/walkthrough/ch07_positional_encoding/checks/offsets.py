"""The check of chapter 07 on the step from one position to another (§3.5)."""

from collections.abc import Callable
from math import cos, sin

import torch
from torch import Tensor

from walkthrough.checking import Check, Mistake, fixed

Rotate = Callable[[int, int], Tensor]


def _of_blocks(
    block: Callable[[float, float], list[list[float]]], exponent: float = 1.0, base: int = 10000
) -> Rotate:
    """The matrix whose blocks are `block(cosine, sine)`, for every k and d_model."""

    def rotate(k: int, d_model: int) -> Tensor:
        angles = [k / base ** (exponent * even / d_model) for even in range(0, d_model, 2)]
        blocks = [torch.tensor(block(cos(a), sin(a)), dtype=torch.float64) for a in angles]
        return torch.block_diag(*blocks).float()

    return rotate


def _turn(cosine: float, sine: float) -> list[list[float]]:
    return [[cosine, sine], [-sine, cosine]]


_rotation = _of_blocks(_turn)


def _in_halves(k: int, d_model: int) -> Tensor:
    order = torch.cat([torch.arange(0, d_model, 2), torch.arange(1, d_model, 2)])
    return _rotation(k, d_model)[order][:, order]


rotation = Check(
    name="one matrix moves every position by k",
    reference=_rotation,
    cases=[
        fixed("k = 0", 0, 6, special="No step: every encoding stays, so this is the identity."),
        fixed("k = 1 and d_model = 4", 1, 4),
        fixed("k = 7 and d_model = 16", 7, 16),
        fixed("one pair", 5, 2),
        fixed(
            "k = −3 and d_model = 16",
            -3,
            16,
            special="A negative k turns back. (A loop over `range(k)` does nothing then.)",
        ),
    ],
    tolerance=1e-4,
    mistakes=[
        Mistake(
            "wrong sign",
            _of_blocks(lambda cosine, sine: _turn(cosine, -sine)),
            "this matrix maps PE(pos) to PE(pos − k): it turns the wrong way. "
            "In a pair the sine comes first, so the minus stands in the lower left corner. "
            "(The transposed matrix is the same mistake: it turns back.)",
        ),
        Mistake(
            "no minus",
            _of_blocks(lambda cosine, sine: [[cosine, sine], [sine, cosine]]),
            "neither corner of your 2×2 blocks has a minus, so they are no rotations. "
            "cos(a + b) = cos a cos b − sin a sin b.",
        ),
        Mistake(
            "sine and cosine exchanged",
            _of_blocks(lambda cosine, sine: [[sine, cosine], [-cosine, sine]]),
            "sine and cosine have changed places in your blocks. For k = 0 nothing may move, so "
            "the cosine stands on the diagonal.",
        ),
        Mistake(
            "blocks for concatenated halves",
            _in_halves,
            "your matrix is right for an encoding with all sines first. Here the sine and cosine "
            "of one angle stand side by side, so 2×2 blocks stand along the diagonal.",
            "Another table than in training",
        ),
        Mistake(
            "a diagonal",
            _of_blocks(lambda cosine, sine: [[sine, 0.0], [0.0, cosine]]),
            "you put the encoding of k on the diagonal. That multiplies each component by a "
            "number; a turn has to mix the sine and the cosine of a pair.",
        ),
        Mistake(
            "index doubled twice",
            _of_blocks(_turn, exponent=2.0),
            "the exponent is not 2i / d_model: i is doubled twice, or never. If your index runs "
            "0, 2, 4, …, it is 2i already: the angle is k / 10000^(index/d_model).",
            also=(_of_blocks(_turn, exponent=0.5),),
        ),
        Mistake(
            "base 1000",
            _of_blocks(_turn, base=1000),
            "the base is 1000, so the slow pairs turn too far. The paper's is 10000.",
            "The base",
        ),
        Mistake(
            "one angle for all pairs",
            _of_blocks(_turn, exponent=0.0),
            "you turn every pair by k. Pair i turns by k / 10000^(2i/d_model).",
        ),
    ],
)
