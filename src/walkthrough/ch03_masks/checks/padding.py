"""The check of chapter 03 on the padding mask (§3.2.3)."""

import torch
from torch import Tensor

from transformer.config import EOS_ID, PAD_ID
from transformer.masks import padding_mask
from walkthrough.checking import Check, Mistake, fixed


def _columns(is_open: Tensor) -> Tensor:
    return is_open[:, None, None, :]


pad_mask = Check(
    name="pad_mask",
    reference=padding_mask,
    cases=[
        fixed(
            "three sentences, two of them padded",
            torch.tensor([[5, 9, 8, 2], [7, 2, 0, 0], [3, 2, 0, 0]]),
        ),
        fixed(
            "a decoder input that begins with bos",
            torch.tensor([[1, 6, 4, 3, 9], [1, 8, 0, 0, 0]]),
            special="The start token is a token of the sentence: in the decoder the first position "
            "has nothing else to look at. Only id 0 is padding.",
        ),
        fixed("a batch without padding", torch.tensor([[4, 5, 2], [6, 7, 2]])),
        fixed("one sentence of one word", torch.tensor([[7, 2, 0]])),
        fixed("a row of padding only", torch.tensor([[0, 0, 0], [5, 4, 2]])),
    ],
    mistakes=[
        Mistake(
            "inverted",
            lambda tokens: _columns(tokens == PAD_ID),
            "the mask is inverted: it is True at padding. True means *may* attend here. This is "
            "what `nn.MultiheadAttention` calls key_padding_mask.",
        ),
        Mistake(
            "no dimensions for heads and queries",
            lambda tokens: tokens != PAD_ID,
            "the values are right, the shape is (batch, key_len). Against scores of shape (batch, "
            "heads, query_len, key_len) the batch would stand where the queries are. Insert two "
            "dimensions of size 1.",
        ),
        Mistake(
            "no dimension for heads",
            lambda tokens: (tokens != PAD_ID)[:, None, :],
            "the values are right, one dimension is missing. (batch, 1, key_len) lines up with "
            "(heads, query_len, key_len): the batch would stand where the heads are.",
        ),
        Mistake(
            "closes queries",
            lambda tokens: (tokens != PAD_ID)[:, None, :, None],
            "the mask has shape (batch, 1, len, 1), so it closes the rows of padding *queries*. "
            "Real words still look at padding keys. Keys stand in the last dimension.",
        ),
        Mistake(
            "closes queries and keys",
            lambda tokens: (tokens != PAD_ID)[:, None, :, None] & _columns(tokens != PAD_ID),
            "the keys are right, and the mask closes the rows of padding queries as well. That "
            "leaves rows in which nothing is open, and it ties the mask to one number of queries: "
            "for attention to the encoder you need another. Close keys only.",
        ),
        Mistake(
            "a row for every query",
            lambda tokens: _columns(tokens != PAD_ID).expand(-1, 1, tokens.shape[1], -1),
            "the values are right, and repeated for every query. Size 1 there is enough, and it "
            "fits any number of queries: in attention to the encoder there are others than keys.",
        ),
        Mistake(
            "end token closed",
            lambda tokens: _columns((tokens != PAD_ID) & (tokens != EOS_ID)),
            "the end token is closed too. It is a token of the sentence, and the decoder may look "
            "at it. Only id 0 is padding.",
        ),
        Mistake(
            "numbers",
            lambda tokens: _columns(tokens != PAD_ID).float(),
            "the places are right, the values are the numbers 1 and 0. A mask of numbers is "
            "*added* to the scores, so it would close nothing. Return booleans.",
        ),
    ],
    right="`pad_mask` is right: one row a sentence, True at its tokens, and room for heads and "
    "queries",
)
