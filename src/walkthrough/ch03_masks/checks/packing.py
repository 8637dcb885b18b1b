"""The check of chapter 03 on packed sentences: several in one row, none sees another."""

import torch
from torch import Tensor

from walkthrough.checking import Check, Mistake, fixed


def _same(segments: Tensor) -> Tensor:
    return (segments[:, :, None] == segments[:, None, :])[:, None]


def _past(segments: Tensor, diagonal: int = 0) -> Tensor:
    length = segments.shape[1]
    return torch.ones(length, length, dtype=torch.bool).tril(diagonal)


def _words(segments: Tensor) -> Tensor:
    return (segments != 0)[:, None, None, :]


def _rows(segments: Tensor) -> Tensor:
    return (segments != 0)[:, None, :, None]


def _packed(segments: Tensor) -> Tensor:
    return _same(segments) & _past(segments) & _words(segments)


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
        fixed("padding on the left, and alone", torch.tensor([[0, 0, 0, 0], [0, 1, 1, 2]])),
    ],
    mistakes=[
        Mistake(
            "no causal mask",
            lambda segments: _same(segments) & _words(segments),
            "sentences are kept apart, and each token sees its whole sentence, the future too. "
            "That is a mask for packed *source* sentences. Add the triangle.",
        ),
        Mistake(
            "padding open to itself",
            lambda segments: _same(segments) & _past(segments),
            "padding sees padding: 0 equals 0, so it counts as a sentence of its own. Close the "
            "keys that are padding as well.",
        ),
        Mistake(
            "inverted",
            lambda segments: ~_packed(segments),
            "True and False are exchanged. In this book True means *may attend*, as in "
            "`F.scaled_dot_product_attention`; `nn.MultiheadAttention` has it the other way round.",
            where="True means the opposite",
        ),
        Mistake(
            "rows of padding closed",
            lambda segments: _past(segments) & _rows(segments),
            "sentences see those packed before them, and padding closes its own *rows*: it may ask "
            "nothing, and the words may look at it. Compare the numbers of query and key, and let "
            "padding close columns.",
            where="Rows closed instead of columns",
        ),
        Mistake(
            "no sentences",
            lambda segments: _past(segments) & _words(segments),
            "this is a causal mask with padding, and sentences see those packed before them. "
            "Compare the numbers of query and key: `segments[:, :, None]` with "
            "`segments[:, None, :]`.",
        ),
        Mistake(
            "earlier sentences too",
            lambda segments: _past(segments) & _words(segments) & _rows(segments),
            "a sentence sees those packed before it. The numbers of query and key must be equal, "
            "not in order (`==`, not `>=`).",
        ),
        Mistake(
            "without itself",
            lambda segments: _same(segments) & _past(segments, -1) & _words(segments),
            "a token may not see itself here. The diagonal is open, as in every causal mask; "
            "without it the first word of each sentence has nothing to look at.",
            where="A row with nothing open",
        ),
    ],
    right="`packed_mask` is right: sentences share a row and do not see each other",
)
