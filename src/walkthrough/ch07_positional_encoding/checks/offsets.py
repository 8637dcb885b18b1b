"""The checks of chapter 07 on steps: from position to position, from cached words on (§3.5)."""

from collections.abc import Callable

import torch
from torch import Tensor

from transformer.positional import sinusoidal_encoding
from walkthrough.checking.base import Case, Check, Mistake, drawn, fixed

Rotate = Callable[[int, int], Tensor]


# 1 · the rotation from PE(pos) to PE(pos + k)


def _rotation(*, base: float = 10000.0, sign: int = 1, same_angle: bool = False) -> Rotate:
    """The matrix for every k and d_model, with one thing changed."""

    def rotate(k: int, d_model: int) -> Tensor:
        matrix = torch.zeros(d_model, d_model, dtype=torch.float64)
        for even in range(0, d_model, 2):
            angle = torch.tensor(sign * k / (1.0 if same_angle else base ** (even / d_model)))
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
            "wrong sign",
            _rotation(sign=-1),
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
            "dimensions shifted",
            lambda k, d_model: torch.eye(d_model).roll(k, dims=0),
            "this matrix moves the dimensions by k. It should leave each value in its pair and "
            "turn the pair.",
        ),
    ],
)


# 2 · positions of the words that are new in this step


def _add_positions(embedded: Tensor, n_decoded: int) -> Tensor:
    new_len, d_model = embedded.shape[-2:]
    return embedded + sinusoidal_encoding(new_len, d_model, start=n_decoded)


def _per_sentence(embedded: Tensor, n_decoded: int) -> Tensor:
    batch, _, d_model = embedded.shape
    return embedded + sinusoidal_encoding(batch, d_model, start=n_decoded)[:, None]


def _new_words_case(batch: int, new_len: int, n_decoded: int) -> Case:
    words = "word" if new_len == 1 else "words"
    return drawn(f"{new_len} new {words} after {n_decoded}", (batch, new_len, 8), n_decoded)


add_positions = Check(
    name="new words get the positions after the old ones",
    reference=_add_positions,
    cases=[
        _new_words_case(batch=2, new_len=3, n_decoded=0),
        _new_words_case(batch=2, new_len=1, n_decoded=5),
        _new_words_case(batch=3, new_len=3, n_decoded=4),
    ],
    mistakes=[
        Mistake(
            "all positions 0",
            lambda embedded, n_decoded: _add_positions(embedded, 0),
            "every step starts again at position 0. Your result ignores `n_decoded`: "
            "with a cache the new words stand behind the words already decoded.",
        ),
        Mistake(
            "one too far",
            lambda embedded, n_decoded: _add_positions(embedded, n_decoded + 1),
            "the positions are one too large: positions count from 0, so after `n_decoded` words "
            "the next one has position `n_decoded`.",
        ),
        Mistake(
            "one too early",
            lambda embedded, n_decoded: _add_positions(embedded, n_decoded - 1),
            "the positions are one too small: the last decoded word already has position "
            "`n_decoded − 1`.",
        ),
        Mistake(
            "one position for all",
            lambda embedded, n_decoded: (
                embedded + sinusoidal_encoding(1, embedded.shape[-1], start=n_decoded)
            ),
            "all new words get the same position. A step may bring several words.",
        ),
        Mistake(
            "a position for each sentence",
            _per_sentence,
            "the position depends on the sentence of the batch instead of the place in it: "
            "the encoding was broadcast along the wrong dimension.",
        ),
        Mistake(
            "nothing added",
            lambda embedded, n_decoded: embedded.clone(),
            "nothing is added to the embeddings.",
        ),
        Mistake(
            "encodings alone",
            lambda embedded, n_decoded: _add_positions(0 * embedded, n_decoded),
            "these are the encodings alone: the positions are right, and the words are gone. Add "
            "the encodings to `embedded`.",
        ),
        Mistake(
            "words scaled again",
            lambda embedded, n_decoded: (
                embedded * embedded.shape[-1] ** 0.5 + _add_positions(0 * embedded, n_decoded)
            ),
            "the words are multiplied by √d_model first. They are embedded already: add the "
            "encodings, and nothing else.",
        ),
        Mistake(
            "multiplied",
            lambda embedded, n_decoded: embedded * _add_positions(0 * embedded, n_decoded),
            "the encoding is multiplied with the embedding; the paper adds them.",
        ),
    ],
)
