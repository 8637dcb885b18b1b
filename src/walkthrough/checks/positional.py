"""The checks of chapter 07, positional encoding (§3.5)."""

from collections.abc import Callable
from math import tau

import torch
from torch import Tensor

from transformer.positional import sinusoidal_encoding
from walkthrough.checks.base import Arguments, Case, Check, Mistake, Symptom, arguments
from walkthrough.checks.values import ValueCheck, WrongValue

Encode = Callable[[int, int], Tensor]


def _angles(positions: Tensor, d_model: int, *, base: float = 10000.0) -> Tensor:
    """Return pos / base^(2i/d_model), one row a position, one column a pair."""
    even_dims = torch.arange(0, d_model, 2, dtype=torch.float64)
    return positions.double()[:, None] / base ** (even_dims / d_model)


def _interleaved(first: Tensor, second: Tensor) -> Tensor:
    return torch.stack([first, second], dim=-1).flatten(-2).float()


# 1 · write the encoding


def _encoding(length: int, d_model: int) -> Tensor:
    return sinusoidal_encoding(length, d_model).float()


def _sin_and_cos_swapped(length: int, d_model: int) -> Tensor:
    angle = _angles(torch.arange(length), d_model)
    return _interleaved(angle.cos(), angle.sin())


def _halves_concatenated(length: int, d_model: int) -> Tensor:
    angle = _angles(torch.arange(length), d_model)
    return torch.cat([angle.sin(), angle.cos()], dim=-1).float()


def _base_1000(length: int, d_model: int) -> Tensor:
    return sinusoidal_encoding(length, d_model, base=1000.0).float()


def _from_position_1(length: int, d_model: int) -> Tensor:
    return sinusoidal_encoding(length, d_model, start=1).float()


def _doubled_twice(length: int, d_model: int) -> Tensor:
    return sinusoidal_encoding(length, d_model, base=10000.0**2).float()


def _never_doubled(length: int, d_model: int) -> Tensor:
    return sinusoidal_encoding(length, d_model, base=10000.0**0.5).float()


def _each_dimension_its_own_angle(length: int, d_model: int) -> Tensor:
    exponent = torch.arange(d_model, dtype=torch.float64) / d_model
    angle = torch.arange(length).double()[:, None] / 10000.0**exponent
    return _interleaved(angle[:, 0::2].sin(), angle[:, 1::2].cos())


def _multiplied_by_the_power(length: int, d_model: int) -> Tensor:
    angle = torch.arange(length).double()[:, None] ** 2 / _angles(
        torch.arange(length).clamp(min=1), d_model
    )
    return _interleaved(angle.sin(), angle.cos())


def _in_turns(length: int, d_model: int) -> Tensor:
    angle = _angles(torch.arange(length), d_model) * tau
    return _interleaved(angle.sin(), angle.cos())


encoding = Check(
    name="these are the paper's sinusoidal encodings",
    reference=_encoding,
    cases=[
        Case("5 positions and d_model = 8", lambda _: arguments(5, 8)),
        Case("40 positions and d_model = 64", lambda _: arguments(40, 64)),
    ],
    tolerance=1e-4,
    mistakes=[
        Mistake(
            "sin and cos swapped",
            _sin_and_cos_swapped,
            "sine and cosine have changed places: position 0 should read 0, 1, 0, 1, … and "
            "yours reads 1, 0, 1, 0, … . The paper puts the sine into even dimensions.",
        ),
        Mistake(
            "halves concatenated",
            _halves_concatenated,
            "all sines come first and all cosines after them. The values are right and their "
            "order is not: the paper puts the sine and the cosine of one angle side by side. "
            "(The authors' own code concatenates too; see 'What goes wrong'.)",
        ),
        Mistake(
            "base 1000",
            _base_1000,
            "the base is 1000 here; the paper's is 10000.",
        ),
        Mistake(
            "positions from 1",
            _from_position_1,
            "your first row is position 1. Positions start at 0, so the first row is 0, 1, 0, 1, …",
        ),
        Mistake(
            "index doubled twice",
            _doubled_twice,
            "the exponent grows twice as fast as it should: i is doubled twice. "
            "If your index already runs 0, 2, 4, …, it is 2i: the exponent is index / d_model.",
        ),
        Mistake(
            "index never doubled",
            _never_doubled,
            "the exponent grows half as fast as it should: with i = 0, 1, 2, … "
            "it is 2i / d_model, not i / d_model.",
        ),
        Mistake(
            "an angle for each dimension",
            _each_dimension_its_own_angle,
            "the cosines use an angle of their own. A sine and the cosine beside it share one "
            "angle: dimensions 2i and 2i + 1 both have the exponent 2i / d_model.",
        ),
        Mistake(
            "multiplied by the power",
            _multiplied_by_the_power,
            "you multiply the position by 10000^(2i/d_model); it is divided by it.",
        ),
        Mistake(
            "turns instead of radians",
            _in_turns,
            "your angles are 2π times too large: the sine takes pos / 10000^(2i/d_model) as it is.",
        ),
    ],
    symptoms=[
        Symptom(
            "dimensions in rows",
            lambda result, expected, _: result.shape == expected.shape[::-1],
            "your result has a row for each dimension; it should have a row for each position.",
        )
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
            2 * _slow_pairs(),
            "that counts dimensions. A pair is a sine and a cosine, so there are half as many.",
        ),
        WrongValue(
            _slow_pairs(turn=1.0),
            "you compare 10000^(2i/d_model) with the length. The wavelength is 2π times that.",
        ),
        WrongValue(_slow_pairs(1000.0), "that is the count for base 1000; the paper's is 10000."),
    ],
    tolerance=1e-9,
)


# 3 · the rotation from PE(pos) to PE(pos + k)


def _rotation_of(
    k: int, d_model: int, *, base: float = 10000.0, same_angle: bool = False
) -> Tensor:
    matrix = torch.zeros(d_model, d_model, dtype=torch.float64)
    for pair in range(d_model // 2):
        angle = torch.tensor(k / (1.0 if same_angle else base ** (2 * pair / d_model)))
        even, odd = 2 * pair, 2 * pair + 1
        matrix[even, even] = matrix[odd, odd] = angle.cos()
        matrix[even, odd] = angle.sin()
        matrix[odd, even] = -angle.sin()
    return matrix.float()


def _rotation(k: int, d_model: int) -> Tensor:
    return _rotation_of(k, d_model)


def _rotation_backwards(k: int, d_model: int) -> Tensor:
    return _rotation_of(-k, d_model)


def _rotation_in_halves(k: int, d_model: int) -> Tensor:
    order = torch.cat([torch.arange(0, d_model, 2), torch.arange(1, d_model, 2)])
    return _rotation_of(k, d_model)[order][:, order]


def _rotation_of_one_angle(k: int, d_model: int) -> Tensor:
    return _rotation_of(k, d_model, same_angle=True)


def _rotation_base_1000(k: int, d_model: int) -> Tensor:
    return _rotation_of(k, d_model, base=1000.0)


def _rotation_doubled_twice(k: int, d_model: int) -> Tensor:
    return _rotation_of(k, d_model, base=10000.0**2)


def _rotation_without_signs(k: int, d_model: int) -> Tensor:
    matrix = _rotation_of(k, d_model)
    flipped = matrix.clone()
    odd = torch.arange(1, d_model, 2)
    flipped[odd, odd - 1] = -matrix[odd, odd - 1]
    return flipped


def _shift_of_positions(k: int, d_model: int) -> Tensor:
    return torch.eye(d_model).roll(k, dims=0)


rotation = Check(
    name="one matrix moves every position by k",
    reference=_rotation,
    cases=[
        Case("k = 1 and d_model = 4", lambda _: arguments(1, 4)),
        Case("k = 7 and d_model = 16", lambda _: arguments(7, 16)),
        Case("k = −3 and d_model = 16", lambda _: arguments(-3, 16)),
    ],
    tolerance=1e-4,
    mistakes=[
        Mistake(
            "wrong sign",
            _rotation_backwards,
            "this matrix maps PE(pos) to PE(pos − k): it turns the wrong way. "
            "In a pair the sine comes first, so the minus stands in the lower left corner. "
            "(The transposed matrix is the same mistake: it turns back.)",
        ),
        Mistake(
            "no minus",
            _rotation_without_signs,
            "neither corner of your 2×2 blocks has a minus, so they are no rotations. "
            "cos(a + b) = cos a cos b − sin a sin b.",
        ),
        Mistake(
            "blocks for concatenated halves",
            _rotation_in_halves,
            "your matrix is right for an encoding with all sines first. Here the sine and cosine "
            "of one angle stand side by side, so 2×2 blocks stand along the diagonal.",
        ),
        Mistake(
            "one angle for all pairs",
            _rotation_of_one_angle,
            "you turn every pair by k. Pair i turns by k / 10000^(2i/d_model).",
        ),
        Mistake("base 1000", _rotation_base_1000, "the angles use base 1000; it is 10000."),
        Mistake(
            "index doubled twice",
            _rotation_doubled_twice,
            "the later pairs turn too little: i is doubled twice. If your index runs 0, 2, 4, …, "
            "it is 2i already: the angle is k / 10000^(index/d_model).",
        ),
        Mistake(
            "dimensions shifted",
            _shift_of_positions,
            "this matrix moves the dimensions by k. It should leave each value in its pair and "
            "turn the pair.",
        ),
    ],
)


# 4 · positions of the words that are new in this step


def _add_positions(embedded: Tensor, n_decoded: int) -> Tensor:
    new_len, d_model = embedded.shape[-2:]
    return embedded + sinusoidal_encoding(new_len, d_model, start=n_decoded)


def _always_from_zero(embedded: Tensor, n_decoded: int) -> Tensor:
    return _add_positions(embedded, 0)


def _one_too_far(embedded: Tensor, n_decoded: int) -> Tensor:
    return _add_positions(embedded, n_decoded + 1)


def _one_too_early(embedded: Tensor, n_decoded: int) -> Tensor:
    return _add_positions(embedded, max(n_decoded - 1, 0))


def _one_position_for_all(embedded: Tensor, n_decoded: int) -> Tensor:
    return embedded + sinusoidal_encoding(1, embedded.shape[-1], start=n_decoded)


def _position_of_the_sentence(embedded: Tensor, n_decoded: int) -> Tensor:
    batch, _, d_model = embedded.shape
    return embedded + sinusoidal_encoding(batch, d_model, start=n_decoded)[:, None]


def _without_positions(embedded: Tensor, n_decoded: int) -> Tensor:
    return embedded.clone()


def _encodings_alone(embedded: Tensor, n_decoded: int) -> Tensor:
    return _add_positions(torch.zeros_like(embedded), n_decoded)


def _multiplied(embedded: Tensor, n_decoded: int) -> Tensor:
    new_len, d_model = embedded.shape[-2:]
    return embedded * sinusoidal_encoding(new_len, d_model, start=n_decoded)


def _embedded_case(batch: int, new_len: int, n_decoded: int) -> Case:
    def make(generator: torch.Generator) -> Arguments:
        return arguments(torch.randn(batch, new_len, 8, generator=generator), n_decoded)

    words = "word" if new_len == 1 else "words"
    return Case(f"{new_len} new {words} after {n_decoded}", make)


add_positions = Check(
    name="new words get the positions after the old ones",
    reference=_add_positions,
    cases=[
        _embedded_case(batch=2, new_len=3, n_decoded=0),
        _embedded_case(batch=2, new_len=1, n_decoded=5),
        _embedded_case(batch=3, new_len=3, n_decoded=4),
    ],
    mistakes=[
        Mistake(
            "all positions 0",
            _always_from_zero,
            "every step starts again at position 0. Your result ignores `n_decoded`: "
            "with a cache the new words stand behind the words already decoded.",
        ),
        Mistake(
            "one too far",
            _one_too_far,
            "the positions are one too large: positions count from 0, so after `n_decoded` words "
            "the next one has position `n_decoded`.",
        ),
        Mistake(
            "one too early",
            _one_too_early,
            "the positions are one too small: the last decoded word already has position "
            "`n_decoded − 1`.",
        ),
        Mistake(
            "one position for all",
            _one_position_for_all,
            "all new words get the same position. A step may bring several words.",
        ),
        Mistake(
            "a position for each sentence",
            _position_of_the_sentence,
            "the position depends on the sentence of the batch instead of the place in it: "
            "the encoding was broadcast along the wrong dimension.",
        ),
        Mistake("nothing added", _without_positions, "nothing is added to the embeddings."),
        Mistake(
            "encodings alone",
            _encodings_alone,
            "these are the encodings alone: the positions are right, and the words are gone. Add "
            "the encodings to `embedded`.",
        ),
        Mistake(
            "multiplied",
            _multiplied,
            "the encoding is multiplied with the embedding; the paper adds them.",
        ),
    ],
)


# 5 · predict what a model without positions reaches

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
