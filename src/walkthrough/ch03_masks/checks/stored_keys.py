"""The check of chapter 03 on the causal mask when keys are stored (§3.2.3)."""

import torch
from torch import Tensor

from transformer.masks import causal_mask
from walkthrough.checking.base import Arguments, Check, Mistake, Symptom, fixed


def _decoding_mask(query_len: int, key_len: int) -> Tensor:
    return causal_mask(query_len, key_len)[0, 0]


def _ones(query_len: int, key_len: int) -> Tensor:
    return torch.ones(query_len, key_len, dtype=torch.bool)


def _fits(result: Tensor, query_len: int, key_len: int) -> bool:
    return result.dtype == torch.bool and result.shape == (query_len, key_len)


def _sees_later(result: Tensor, expected: Tensor, given: Arguments) -> bool:
    return _fits(result, *given.positional) and bool((result & ~expected).any())


def _misses_earlier(result: Tensor, expected: Tensor, given: Arguments) -> bool:
    return _fits(result, *given.positional) and bool((expected & ~result).any())


decoding_mask = Check(
    name="decoding_mask",
    reference=_decoding_mask,
    cases=[
        fixed("4 queries and 4 keys, nothing stored", 4, 4),
        fixed("1 query and 5 keys, one new token", 1, 5),
        fixed("3 queries and 7 keys, three new tokens", 3, 7),
    ],
    mistakes=[
        Mistake(
            "aligned at the start",
            lambda query_len, key_len: _ones(query_len, key_len).tril(),
            "right when nothing is stored. With stored keys the first row sees the first key only: "
            "it is treated as position 0. The queries are the *last* positions, so the diagonal "
            "has to move right by key_len − query_len. (These are the first rows of the full "
            "mask; you need its last rows.)",
        ),
        Mistake(
            "diagonal moved left",
            lambda query_len, key_len: _ones(query_len, key_len).tril(query_len - key_len),
            "the diagonal moves to the left. With stored keys, rows see less instead of more. The "
            "sign is wrong: key_len − query_len.",
        ),
        Mistake(
            "one too far",
            lambda query_len, key_len: _ones(query_len, key_len).tril(key_len - query_len + 1),
            "every position sees one token too many: the next one, which it must predict.",
        ),
        Mistake(
            "without itself",
            lambda query_len, key_len: _ones(query_len, key_len).tril(key_len - query_len - 1),
            "a position may not see itself here. It may: the token it reads is known, since the "
            "input is shifted. And with nothing stored, the first row has nothing to look at.",
        ),
        Mistake(
            "past closed",
            lambda query_len, key_len: _ones(query_len, key_len).triu(key_len - query_len),
            "the wrong triangle: each position sees itself and the *future*.",
        ),
        Mistake(
            "inverted",
            lambda query_len, key_len: _ones(query_len, key_len).triu(key_len - query_len + 1),
            "the mask is inverted: True marks the future. That is what `nn.MultiheadAttention` "
            "wants; here True means *may* attend.",
        ),
        Mistake(
            "everything open",
            _ones,
            "everything is open. That is right for one new token and wrong for several: the first "
            "of three may not see the two after it.",
        ),
        Mistake(
            "stored keys closed",
            lambda query_len, key_len: torch.cat(
                [~_ones(query_len, key_len - query_len), _ones(query_len, query_len).tril()], dim=1
            ),
            "the stored keys are closed: the new positions see only themselves and each other. "
            "What is stored lies in their past, so it is open.",
        ),
        Mistake(
            "only stored keys open",
            lambda query_len, key_len: torch.cat(
                [_ones(query_len, key_len - query_len), ~_ones(query_len, query_len)], dim=1
            ),
            "the new keys are closed, those of the new positions themselves included. A position "
            "sees itself and the new ones before it.",
        ),
        Mistake(
            "one position each",
            lambda query_len, key_len: (
                _decoding_mask(query_len, key_len)
                & ~_ones(query_len, key_len).tril(key_len - query_len - 1)
            ),
            "each position sees itself and nothing else. What comes before it is open too.",
        ),
        Mistake(
            "mirrored",
            lambda query_len, key_len: _decoding_mask(query_len, key_len).flip(-1),
            "the keys run backwards: the newest stands first. Key 0 is the first word.",
        ),
        Mistake(
            "rows upside down",
            lambda query_len, key_len: _decoding_mask(query_len, key_len).flip(0),
            "the rows run backwards: the first query sees most. The first row belongs to the "
            "first of the new positions, which sees least.",
        ),
        Mistake(
            "keys as rows",
            lambda query_len, key_len: _decoding_mask(query_len, key_len).T,
            "rows and columns are exchanged. Queries are rows, keys are columns.",
        ),
        Mistake(
            "room for heads",
            lambda query_len, key_len: causal_mask(query_len, key_len),
            "the values are right, the shape is (1, 1, query_len, key_len), as the package has "
            "it. Asked for is the matrix alone, (query_len, key_len).",
        ),
        Mistake(
            "additive",
            lambda query_len, key_len: torch.zeros(query_len, key_len).masked_fill(
                ~_decoding_mask(query_len, key_len), float("-inf")
            ),
            "this is an additive mask: 0 where open, −∞ where closed. Here masks are boolean, and "
            "True means may attend.",
        ),
        Mistake(
            "square",
            lambda query_len, key_len: _ones(key_len, key_len).tril(),
            "the mask has a row for every key. It needs rows for the new positions only: the last "
            "query_len rows of what you built.",
        ),
        Mistake(
            "numbers",
            lambda query_len, key_len: _decoding_mask(query_len, key_len).float(),
            "the places are right, the values are the numbers 1 and 0. Return booleans.",
        ),
    ],
    symptoms=[
        Symptom(
            "another shape",
            lambda result, expected, given: result.shape != expected.shape,
            "the mask has another shape than (query_len, key_len): a row for each of the newest "
            "positions, a column for each key.",
        ),
        Symptom(
            "a later key is open",
            _sees_later,
            "some query sees a key that comes after it. Query number i stands at position "
            "key_len − query_len + i of the sentence; keys beyond that are closed.",
        ),
        Symptom(
            "an earlier key is closed",
            _misses_earlier,
            "some query misses a key that it may see: its own, or one before it. Query number i "
            "stands at position key_len − query_len + i of the sentence; all keys up to there are "
            "open.",
        ),
    ],
    right="`decoding_mask` is right, with and without stored keys",
)
