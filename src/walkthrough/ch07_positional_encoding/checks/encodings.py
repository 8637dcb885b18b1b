"""The check of chapter 07 on the table of sinusoidal encodings (§3.5)."""

from collections.abc import Callable

import torch
from torch import Tensor

from transformer.positional import sinusoidal_encoding
from walkthrough.checking import Arguments, Check, Mistake, Symptom, fixed

Encode = Callable[[int, int], Tensor]
Join = Callable[[Tensor, Tensor], Tensor]


ANOTHER_TABLE = "Another table than in training"


def _powers(d_model: int, base: float = 10000.0) -> Tensor:
    """Return base^(2i/d_model), one number a pair."""
    return base ** (torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)


def _angles(positions: Tensor, d_model: int) -> Tensor:
    """Return pos / 10000^(2i/d_model), one row a position, one column a pair."""
    return positions[:, None] / _powers(d_model)


def _interleaved(sines: Tensor, cosines: Tensor) -> Tensor:
    return torch.stack([sines, cosines], dim=-1).flatten(-2).float()


def _encoding(
    angles: Callable[[Tensor, int], Tensor] = _angles, join: Join = _interleaved
) -> Encode:
    """The paper's encoding, or one with other angles or in another order."""

    def encode(length: int, d_model: int) -> Tensor:
        angle = angles(torch.arange(length), d_model)
        return join(angle.sin(), angle.cos())

    return encode


def _own_angles(length: int, d_model: int) -> Tensor:
    exponent = torch.arange(d_model, dtype=torch.float64) / d_model
    angle = torch.arange(length)[:, None] / 10000.0**exponent
    return _interleaved(angle[:, 0::2].sin(), angle[:, 1::2].cos())


_multiplied = _encoding(lambda positions, d_model: positions[:, None] * _powers(d_model))


def _multiplied_by_the_power(result: Tensor, expected: Tensor, given: Arguments) -> bool:
    # angles of thousands leave float32 two decimals of the sine
    near = torch.allclose(result.float(), _multiplied(*given.positional), atol=0.02)
    return given.positional[0] > 1 and near and result.shape == expected.shape


encoding = Check(
    name="these are the paper's sinusoidal encodings",
    reference=_encoding(),
    cases=[
        fixed("5 positions and d_model = 8", 5, 8),
        fixed("40 positions and d_model = 64", 40, 64),
        fixed("one position", 1, 6),
        fixed("more positions than components, 300 and 4", 300, 4),
    ],
    tolerance=1e-4,
    forbidden=[sinusoidal_encoding],
    mistakes=[
        Mistake(
            "sin and cos swapped",
            _encoding(join=lambda sines, cosines: _interleaved(cosines, sines)),
            "sine and cosine have changed places: position 0 should read 0, 1, 0, 1, … and "
            "yours reads 1, 0, 1, 0, … . The paper puts the sine into even dimensions.",
        ),
        Mistake(
            "halves concatenated",
            _encoding(join=lambda sines, cosines: torch.cat([sines, cosines], -1).float()),
            "all sines come first and all cosines after them. The values are right and their "
            "order is not: the paper puts the sine and the cosine of one angle side by side. "
            "(The authors' own code concatenates, too.)",
            ANOTHER_TABLE,
        ),
        Mistake(
            "base 1000",
            _encoding(lambda positions, d: positions[:, None] / _powers(d, 1000.0)),
            "the base is 1000. The paper's is 10000, so the slow waves are longer than yours.",
            "The base",
        ),
        Mistake(
            "positions from 1",
            _encoding(lambda positions, d: _angles(positions + 1, d)),
            "your first row is position 1. Positions start at 0, so the first row is 0, 1, 0, 1, …",
            ANOTHER_TABLE,
        ),
        Mistake(
            "index doubled twice",
            _encoding(lambda positions, d: positions[:, None] / _powers(d) ** 2),
            "the exponent grows twice as fast as it should: i is doubled twice. "
            "If your index already runs 0, 2, 4, …, it is 2i: the exponent is index / d_model.",
        ),
        Mistake(
            "index never doubled",
            _encoding(lambda positions, d: positions[:, None] / _powers(d) ** 0.5),
            "the exponent grows half as fast as it should: with i = 0, 1, 2, … "
            "it is 2i / d_model, not i / d_model.",
        ),
        Mistake(
            "pairs counted from first to last",
            _encoding(lambda positions, d: positions[:, None] / _powers(d) ** (d / (d - 2))),
            "you divide the pair's number by the number of pairs less one, so that the last "
            "exponent is 1. The authors' own code does this too; the paper's formula is "
            "10000^(2i/d_model).",
        ),
        Mistake(
            "an angle for each dimension",
            _own_angles,
            "the cosines use an angle of their own. A sine and the cosine beside it share one "
            "angle: dimensions 2i and 2i + 1 both have the exponent 2i / d_model.",
        ),
    ],
    symptoms=[
        Symptom(
            "multiplied by the power",
            _multiplied_by_the_power,
            "you multiply the position by 10000^(2i/d_model); it is divided by it.",
        ),
    ],
    right="right: {name}, for all four sizes",
)
