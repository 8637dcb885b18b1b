"""The check of chapter 03 on packed sentences: several in one row, none sees another."""

import torch
from torch import Tensor

from walkthrough.checking.base import Arguments, Check, Mistake, Symptom, fixed


def _parts(segments: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Same sentence, past or self, key is no padding: each (batch, length, length)."""
    length = segments.shape[1]
    same = segments[:, :, None] == segments[:, None, :]
    past = torch.ones(length, length, dtype=torch.bool).tril().expand_as(same)
    word = (segments != 0)[:, None, :].expand_as(same)
    return same, past, word


def _packed(segments: Tensor) -> Tensor:
    same, past, word = _parts(segments)
    return (same & past & word)[:, None]


def _without_self(segments: Tensor) -> Tensor:
    return _packed(segments) & ~torch.eye(segments.shape[1], dtype=torch.bool)


def _earlier_sentences_too(segments: Tensor) -> Tensor:
    _, past, word = _parts(segments)
    return (past & word & (segments != 0)[:, :, None])[:, None]


def _three_dimensions(result: Tensor, expected: Tensor, given: Arguments) -> bool:
    return result.ndim != 4


def _sees_another_sentence(result: Tensor, expected: Tensor, given: Arguments) -> bool:
    same, _, word = _parts(given.positional[0])
    return bool((result & word[:, None] & ~same[:, None]).any())


def _sees_padding(result: Tensor, expected: Tensor, given: Arguments) -> bool:
    _, _, word = _parts(given.positional[0])
    return bool((result & ~word[:, None]).any())


def _sees_the_future(result: Tensor, expected: Tensor, given: Arguments) -> bool:
    _, past, _ = _parts(given.positional[0])
    return bool((result & ~past[:, None]).any())


def _is_too_closed(result: Tensor, expected: Tensor, given: Arguments) -> bool:
    return bool((expected & ~result).any())


packed_mask = Check(
    name="packed_mask",
    reference=_packed,
    cases=[
        fixed("one row with one sentence", torch.tensor([[1, 1, 1, 1]])),
        fixed("one row with two sentences", torch.tensor([[1, 1, 1, 2, 2]])),
        fixed(
            "two rows, one with three sentences, one padded",
            torch.tensor([[1, 1, 2, 2, 2, 3], [1, 1, 1, 2, 0, 0]]),
        ),
        fixed(
            "three rows of five, with sentences of one token",
            torch.tensor([[1, 2, 3, 4, 5], [1, 2, 2, 0, 0], [1, 0, 0, 0, 0]]),
        ),
    ],
    mistakes=[
        Mistake(
            "no causal mask",
            lambda segments: (_parts(segments)[0] & _parts(segments)[2])[:, None],
            "sentences are kept apart, and each token sees its whole sentence, the future too. "
            "That is a mask for packed *source* sentences. Add the triangle.",
        ),
        Mistake(
            "padding open to itself",
            lambda segments: (_parts(segments)[0] & _parts(segments)[1])[:, None],
            "padding sees padding: 0 equals 0, so it counts as a sentence of its own. Close the "
            "keys that are padding as well.",
        ),
        Mistake(
            "no sentences",
            lambda segments: (_parts(segments)[1] & _parts(segments)[2])[:, None],
            "this is a causal mask with padding, and sentences see those packed before them. "
            "Compare the numbers of query and key: `segments[:, :, None]` with "
            "`segments[:, None, :]`.",
        ),
        Mistake(
            "earlier sentences too",
            _earlier_sentences_too,
            "a sentence sees those packed before it. The numbers of query and key must be equal, "
            "not in order (`==`, not `>=`).",
        ),
        Mistake(
            "without itself",
            _without_self,
            "a token may not see itself here. The diagonal is open, as in every causal mask.",
        ),
        Mistake(
            "future",
            lambda segments: _packed(segments).transpose(-2, -1),
            "the wrong triangle: each token sees itself and what comes *after* it in its "
            "sentence. Queries are rows, keys are columns.",
        ),
        Mistake(
            "inverted",
            lambda segments: ~_packed(segments),
            "the mask is inverted: it is True where a key is closed. Here True means *may* attend.",
        ),
        Mistake(
            "no dimension for heads",
            lambda segments: _packed(segments)[:, 0],
            "the values are right, and the dimension for the heads is missing: (batch, 1, length, "
            "length). Without it the batch would stand where the heads are.",
        ),
        Mistake(
            "numbers",
            lambda segments: _packed(segments).float(),
            "the places are right, the values are the numbers 1 and 0. Return booleans.",
        ),
        Mistake(
            "additive",
            lambda segments: torch.zeros(_packed(segments).shape).masked_fill(
                ~_packed(segments), float("-inf")
            ),
            "this is an additive mask: 0 where open, −∞ where closed. Here masks are boolean, and "
            "True means may attend.",
        ),
        Mistake(
            "neighbours only",
            lambda segments: (
                _packed(segments)
                & ~torch.ones(segments.shape[1], segments.shape[1], dtype=torch.bool).tril(-2)
            ),
            "each token sees itself and the one before it. Open all earlier tokens of its "
            "sentence.",
        ),
    ],
    symptoms=[
        Symptom(
            "not four dimensions",
            _three_dimensions,
            "the mask should have four dimensions, (batch, 1, length, length): a matrix for each "
            "row of the batch, and size 1 for the heads.",
        ),
        Symptom(
            "another shape",
            lambda result, expected, given: result.shape != expected.shape,
            "the dimensions have other sizes than (batch, 1, length, length): the rows of the "
            "batch come first, and the heads' dimension has size 1.",
        ),
        Symptom(
            "another sentence",
            _sees_another_sentence,
            "a token sees tokens of another sentence. Query and key must have the same number.",
        ),
        Symptom("padding open", _sees_padding, "a key that is padding (number 0) is open."),
        Symptom(
            "future open",
            _sees_the_future,
            "a token sees later ones: above the diagonal all is closed.",
        ),
        Symptom(
            "too closed",
            _is_too_closed,
            "some pair is closed that should be open: a token sees itself and every earlier token "
            "of its sentence.",
        ),
    ],
    right="`packed_mask` is right: sentences share a row and do not see each other",
)
