"""The check of chapter 03 on the causal mask when keys are stored (§3.2.3)."""

import torch
from torch import Tensor

from transformer.masks import causal_mask
from walkthrough.checking import Check, Mistake, fixed


def _decoding_mask(query_len: int, key_len: int) -> Tensor:
    return causal_mask(query_len, key_len)[0, 0]


def _ones(query_len: int, key_len: int) -> Tensor:
    return torch.ones(query_len, key_len, dtype=torch.bool)


decoding_mask = Check(
    name="decoding_mask",
    reference=_decoding_mask,
    cases=[
        fixed("4 queries and 4 keys, nothing stored", 4, 4),
        fixed("1 query and 5 keys, one new token", 1, 5),
        fixed("3 queries and 7 keys, three new tokens", 3, 7),
        fixed("5 queries and 6 keys, one key stored", 5, 6),
        fixed("1 query and 1 key", 1, 1),
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
            where="A row with nothing open",
        ),
        Mistake(
            "inverted",
            lambda query_len, key_len: ~_decoding_mask(query_len, key_len),
            "True and False are exchanged. In this book True means *may attend*, as in "
            "`F.scaled_dot_product_attention`; `nn.MultiheadAttention` has it the other way round.",
            where="True means the opposite",
        ),
        Mistake(
            "past closed",
            lambda query_len, key_len: _ones(query_len, key_len).triu(key_len - query_len),
            "the wrong triangle: each position sees itself and the *future*.",
        ),
        Mistake(
            "square",
            lambda query_len, key_len: _ones(key_len, key_len).tril(),
            "the mask has a row for every key. It needs rows for the new positions only: the last "
            "query_len rows of what you built.",
        ),
    ],
    right="`decoding_mask` is right, with and without stored keys",
)
