"""The checks of chapter 07, positional encoding (§3.5): the table, its slow pairs, a model without.

Those on steps from one position to another stand in a module of their own.
"""

from collections.abc import Callable
from math import e, tau
from typing import Any

import torch
from torch import Tensor

from transformer.positional import sinusoidal_encoding
from walkthrough.checking.base import Arguments, Check, Mistake, Symptom, fixed
from walkthrough.checking.values import ValueCheck, WrongValue

Encode = Callable[[int, int], Tensor]
Join = Callable[[Tensor, Tensor], Tensor]


def _powers(d_model: int) -> Tensor:
    """Return 10000^(2i/d_model), one number a pair."""
    return 10000.0 ** (torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)


def _angles(positions: Tensor, d_model: int) -> Tensor:
    """Return pos / 10000^(2i/d_model), one row a position, one column a pair."""
    return positions[:, None] / _powers(d_model)


def _interleaved(first: Tensor, second: Tensor) -> Tensor:
    return torch.stack([first, second], dim=-1).flatten(-2).float()


# 1 · write the encoding


def _encoding(**changes: Any) -> Encode:
    """The paper's encoding, or one with another base or start."""
    return lambda length, d_model: sinusoidal_encoding(length, d_model, **changes).float()


def _of_angles(angles: Callable[[Tensor, int], Tensor], join: Join = _interleaved) -> Encode:
    """The encoding with other angles, or with sines and cosines joined in another way."""

    def encode(length: int, d_model: int) -> Tensor:
        angle = angles(torch.arange(length), d_model)
        return join(angle.sin(), angle.cos())

    return encode


def _each_dimension_its_own_angle(length: int, d_model: int) -> Tensor:
    exponent = torch.arange(d_model, dtype=torch.float64) / d_model
    angle = torch.arange(length).double()[:, None] / 10000.0**exponent
    return _interleaved(angle[:, 0::2].sin(), angle[:, 1::2].cos())


def _sines_only(length: int, d_model: int) -> Tensor:
    exponent = torch.arange(d_model, dtype=torch.float64) / d_model
    return (torch.arange(length).double()[:, None] / 10000.0**exponent).sin().float()


def _last_pair_left_out(length: int, d_model: int) -> Tensor:
    table = _encoding()(length, d_model).clone()
    table[:, -2:] = 0.0
    return table


def _last_exponent_1(positions: Tensor, d_model: int) -> Tensor:
    return positions[:, None] / 10000 ** torch.linspace(0, 1, d_model // 2, dtype=torch.float64)


_multiplied = _of_angles(lambda positions, d_model: positions[:, None] * _powers(d_model))


def _multiplied_by_the_power(result: Tensor, expected: Tensor, given: Arguments) -> bool:
    # the angles are so large that float32 has only two decimals of the sine
    return not result.is_complex() and torch.allclose(
        result.float(), _multiplied(*given.positional), atol=0.02
    )


encoding = Check(
    name="these are the paper's sinusoidal encodings",
    reference=_of_angles(_angles),
    cases=[
        fixed("5 positions and d_model = 8", 5, 8),
        fixed("40 positions and d_model = 64", 40, 64),
    ],
    tolerance=1e-4,
    forbidden=[sinusoidal_encoding],
    mistakes=[
        Mistake(
            "sin and cos swapped",
            _of_angles(_angles, lambda sines, cosines: _interleaved(cosines, sines)),
            "sine and cosine have changed places: position 0 should read 0, 1, 0, 1, … and "
            "yours reads 1, 0, 1, 0, … . The paper puts the sine into even dimensions.",
        ),
        Mistake(
            "halves concatenated",
            _of_angles(_angles, lambda sines, cosines: torch.cat([sines, cosines], -1).float()),
            "all sines come first and all cosines after them. The values are right and their "
            "order is not: the paper puts the sine and the cosine of one angle side by side. "
            "(The authors' own code concatenates too; see 'What goes wrong'.)",
        ),
        Mistake(
            "base 100000",
            _encoding(base=1e5),
            "the base is 100000 here; the paper’s is 10000.",
        ),
        Mistake(
            "pairs from 1",
            _of_angles(lambda p, d: p[:, None] / (_powers(d) * 10000.0 ** (2 / d))),
            "your first pair is i = 1: its frequency should be 1. Count the pairs from 0.",
        ),
        Mistake(
            "one speed",
            _of_angles(lambda p, d: p[:, None] / _powers(d) ** 0),
            "every pair turns at the same speed: the exponent is 0 throughout. Do you divide "
            "with `//`? It is 2i / d_model, a fraction.",
        ),
        Mistake(
            "share of the length",
            _of_angles(lambda p, d: p[:, None] / max(len(p), 1) / _powers(d)),
            "the position is divided by the length of the sentence. It is the number of the "
            "place, 0, 1, 2, …",
        ),
        Mistake(
            "d_model + 1",
            _of_angles(lambda p, d: p[:, None] / _powers(d) ** (d / (d + 1))),
            "the exponent is divided by d_model + 1; it is 2i / d_model.",
        ),
        Mistake(
            "last pair left out",
            _last_pair_left_out,
            "the last pair holds zeros: your loop ends before it. It runs over 0, 2, …, d_model "
            "− 2.",
        ),
        Mistake(
            "negative sine",
            _of_angles(lambda p, d: -_angles(p, d)),
            "the sines are negative: the angle has the wrong sign.",
        ),
        Mistake(
            "base 1000",
            _encoding(base=1000.0),
            "the base is 1000 here; the paper's is 10000.",
        ),
        Mistake(
            "powers of e",
            _encoding(base=e),
            "the powers are those of e: `exp` takes no base. 10000^x is `10000 ** x`, or "
            "`exp(x · ln 10000)`.",
        ),
        Mistake(
            "angles",
            lambda length, d_model: _angles(torch.arange(length), d_model).float(),
            "these are the angles. Take their sine for the even dimensions and their cosine for "
            "the odd ones.",
        ),
        Mistake(
            "whole numbers",
            lambda length, d_model: _encoding()(length, d_model).int(),
            "your table holds whole numbers, so everything behind the point is cut off. Make it "
            "of floats: `torch.zeros(length, d_model)`.",
        ),
        Mistake(
            "positions from 1",
            _encoding(start=1),
            "your first row is position 1. Positions start at 0, so the first row is 0, 1, 0, 1, …",
        ),
        Mistake(
            "index doubled twice",
            _encoding(base=10000.0**2),
            "the exponent grows twice as fast as it should: i is doubled twice. "
            "If your index already runs 0, 2, 4, …, it is 2i: the exponent is index / d_model.",
        ),
        Mistake(
            "index never doubled",
            _encoding(base=10000.0**0.5),
            "the exponent grows half as fast as it should: with i = 0, 1, 2, … "
            "it is 2i / d_model, not i / d_model.",
        ),
        Mistake(
            "pairs counted from first to last",
            _of_angles(_last_exponent_1),
            "you divide the pair's number by the number of pairs less one, so that the last "
            "exponent is 1. The authors' own code does this too; the paper's formula is "
            "10000^(2i/d_model).",
        ),
        Mistake(
            "an angle for each dimension",
            _each_dimension_its_own_angle,
            "the cosines use an angle of their own. A sine and the cosine beside it share one "
            "angle: dimensions 2i and 2i + 1 both have the exponent 2i / d_model.",
        ),
        Mistake(
            "sine twice",
            _of_angles(_angles, lambda sines, cosines: _interleaved(sines, sines)),
            "both dimensions of a pair hold the sine. The second one is the cosine of the same "
            "angle.",
        ),
        Mistake(
            "cosine twice",
            _of_angles(_angles, lambda sines, cosines: _interleaved(cosines, cosines)),
            "both dimensions of a pair hold the cosine. The first one is the sine of the same "
            "angle.",
        ),
        Mistake(
            "sines only",
            _sines_only,
            "every dimension is the sine of an angle of its own. Dimensions come in pairs, a sine "
            "and a cosine of one angle.",
        ),
        Mistake(
            "degrees",
            _of_angles(lambda positions, d_model: _angles(positions, d_model).deg2rad()),
            "the angles were taken for degrees. pos / 10000^(2i/d_model) is in radians already.",
        ),
        Mistake(
            "turns instead of radians",
            _of_angles(lambda positions, d_model: _angles(positions, d_model) * tau),
            "your angles are 2π times too large: the sine takes pos / 10000^(2i/d_model) as it is.",
        ),
    ],
    symptoms=[
        Symptom(
            "dimensions in rows",
            lambda result, expected, _: result.shape == expected.shape[::-1],
            "your result has a row for each dimension; it should have a row for each position.",
        ),
        Symptom(
            "multiplied by the power",
            _multiplied_by_the_power,
            "you multiply the position by 10000^(2i/d_model); it is divided by it.",
        ),
    ],
    right="right: {name}, for both sizes",
)


# 2 · pairs that never complete a turn

N_PAIRS, SENTENCE = 256, 100


def _slow_pairs(base: float = 10000.0, *, turn: float = tau) -> int:
    wavelength = turn * base ** (torch.arange(N_PAIRS, dtype=torch.float64) / N_PAIRS)
    return int((wavelength > SENTENCE).sum())


slow_pairs = ValueCheck(
    name=f"{_slow_pairs()} of the {N_PAIRS} pairs are still in their first turn after "
    f"{SENTENCE} words",
    expected=_slow_pairs(),
    mistakes=[
        WrongValue(
            N_PAIRS - _slow_pairs(),
            "that is how many pairs do complete a turn; the question asks for the others.",
        ),
        WrongValue(
            N_PAIRS - _slow_pairs() + 1,
            "that is one more than the pairs that do complete a turn; the question asks for the "
            "others.",
        ),
        WrongValue(
            _slow_pairs(turn=1.0) + 1,
            "half of all pairs: that is where 10000^(2i/d_model) passes 100. The wavelength is 2π "
            "times that.",
        ),
        WrongValue(
            2 * _slow_pairs(),
            "that counts dimensions. A pair is a sine and a cosine, so there are half as many.",
        ),
        WrongValue(
            _slow_pairs(turn=1.0),
            "you compare 10000^(2i/d_model) with the length. The wavelength is 2π times that.",
        ),
        WrongValue(
            2 * N_PAIRS, "that is the number of dimensions. Count pairs, and only the slow ones."
        ),
        WrongValue(N_PAIRS, "that is the number of all pairs. The fast ones do complete a turn."),
        WrongValue(0, "too low: the slowest hand needs more than 60000 positions for a turn."),
        WrongValue(
            _slow_pairs(turn=tau / 2),
            "you compare half a wavelength with 100. A pair completes a turn after a whole one.",
        ),
        WrongValue(
            _slow_pairs(turn=tau / 4),
            "you compare a quarter of a wavelength with 100. A turn is a whole wavelength.",
        ),
        WrongValue(
            _slow_pairs(turn=1 / tau),
            "you divide by 2π. The wavelength is 2π *times* 10000^(2i/d_model).",
        ),
        WrongValue(
            217,
            "the exponent grows twice as fast as it should: with 512 dimensions it is 2i/512, "
            "that is i/256.",
        ),
        WrongValue(
            100 * _slow_pairs() / N_PAIRS,
            "this is a share in per cent. Asked for is the number of pairs.",
        ),
        WrongValue(
            _slow_pairs() / N_PAIRS,
            "this is a share. Asked for is the number of pairs.",
        ),
        WrongValue(
            _slow_pairs() + 1,
            "one too many: compare the wavelength itself, 2π · 10000^(i/256), with 100.",
        ),
        WrongValue(
            _slow_pairs() - 1,
            "one too few: check the first pair that you count; i runs from 0 to 255.",
        ),
        WrongValue(
            round(_slow_pairs() / N_PAIRS, 3), "this is a share. Asked for is the number of pairs."
        ),
        WrongValue(_slow_pairs(1000.0), "that is the count for base 1000; the paper's is 10000."),
    ],
    tolerance=1e-9,
)


# 3 · predict what a model without positions reaches

mirror_accuracy = ValueCheck(
    name="one chance in five, for every word",
    expected=0.2,
    mistakes=[
        WrongValue(
            1 / 6,
            "close. Six words stand in the sentence, and one of them can be ruled out: with six "
            "places no word is its own mirror image.",
        ),
        WrongValue(
            1.0,
            "that takes positions. Swap two words of the sentence: the right answers change, "
            "and the model's answer for each word does not.",
        ),
        WrongValue(
            0.0,
            "too low: the model can see which words the sentence holds, and guess among them.",
        ),
        WrongValue(
            20,
            "this is in per cent. A share is a number from 0 to 1.",
        ),
        WrongValue(
            0.1,
            "one in ten was the answer on the page, for ten words. Here there are six.",
        ),
        WrongValue(
            5 / 6,
            "that is the chance that the opposite word is *not* one given word of the six. "
            "Asked is how often the best guess is right.",
        ),
        WrongValue(
            0.8,
            "that is how often the best guess is wrong. Asked is how often it is right.",
        ),
        WrongValue(
            1 / 36,
            "that is the chance of two words in their places. The word itself is given; only "
            "its mirror image has to be guessed.",
        ),
        WrongValue(
            1 / 7,
            "one in seven would mean seven possible answers, a start token among them. Here "
            "every place has a word opposite.",
        ),
        WrongValue(
            0.25,
            "a quarter would mean four possible answers. Which words may stand at the mirrored "
            "place? Only one can be ruled out.",
        ),
        WrongValue(
            1 / 30,
            "that is the chance of one *pair* of words. The word itself is given; only its mirror "
            "image has to be guessed.",
        ),
        WrongValue(
            1 / 3,
            "a third would mean three possible answers. For a given word, which words may stand "
            "at the mirrored place?",
        ),
        WrongValue(
            0.5,
            "a half would mean two possible answers. For a given word, which words may stand at "
            "the mirrored place?",
        ),
    ],
    tolerance=5e-3,
)
