"""The check of chapter 03 on the padding mask (§3.2.3)."""

import torch
from torch import Tensor

from transformer.config import BOS_ID, EOS_ID, PAD_ID, UNK_ID
from transformer.masks import padding_mask
from walkthrough.ch03_masks.checks.shifting import tokens_case
from walkthrough.checking.base import Arguments, Check, Mistake, Symptom


def _columns(is_open: Tensor) -> Tensor:
    return is_open[:, None, None, :]


def _shorter_than(tokens: Tensor, extra: int) -> Tensor:
    lengths = (tokens != PAD_ID).sum(dim=1, keepdim=True)
    return torch.arange(tokens.shape[1]) < lengths + extra


def _has_no_room_for_heads(result: Tensor, expected: Tensor, given: Arguments) -> bool:
    return result.ndim < 4


pad_mask = Check(
    name="pad_mask",
    reference=padding_mask,
    cases=[
        tokens_case(
            "three sentences, two of them padded", [[5, 9, 8, 2], [7, 2, 0, 0], [3, 2, 0, 0]]
        ),
        tokens_case("a decoder input that begins with bos", [[1, 6, 4, 3, 9], [1, 8, 0, 0, 0]]),
        tokens_case("a batch without padding", [[4, 5, 2], [6, 7, 2]]),
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
            "dimensions in front",
            lambda tokens: (tokens != PAD_ID)[None, None],
            "the two new dimensions stand in front: (1, 1, batch, key_len). The batch must stay "
            "first and the keys last; the new ones belong between them.",
        ),
        Mistake(
            "closes queries",
            lambda tokens: (tokens != PAD_ID)[:, None, :, None],
            "the mask has shape (batch, 1, len, 1), so it closes the rows of padding *queries*. "
            "Real words still look at padding keys. Keys stand in the last dimension.",
        ),
        Mistake(
            "closes queries and keys",
            lambda tokens: (
                (tokens != PAD_ID)[:, None, :, None] & (tokens != PAD_ID)[:, None, None, :]
            ),
            "the keys are right, and the mask closes the rows of padding queries as well. That "
            "leaves rows in which nothing is open, and it ties the mask to one number of queries: "
            "for attention to the encoder you need another. Close keys only.",
        ),
        Mistake(
            "end token closed",
            lambda tokens: _columns((tokens != PAD_ID) & (tokens != EOS_ID)),
            "the end token is closed too. It is a token of the sentence, and the decoder may look "
            "at it. Only id 0 is padding.",
        ),
        Mistake(
            "start token closed",
            lambda tokens: _columns(tokens > BOS_ID),
            "the start token is closed too. It is a token of the sentence, and in the decoder the "
            "first position has nothing else to look at. Only id 0 is padding.",
        ),
        Mistake(
            "start and end token closed",
            lambda tokens: _columns(tokens > EOS_ID),
            "the start and the end token are closed too. They are tokens of the sentence. Only id "
            "0 is padding.",
        ),
        Mistake(
            "unknown word closed",
            lambda tokens: _columns((tokens != PAD_ID) & (tokens != UNK_ID)),
            "id 3, the unknown word, is closed too. It stands for a word of the sentence. Only id "
            "0 is padding.",
        ),
        Mistake(
            "one word too few",
            lambda tokens: _columns(_shorter_than(tokens, -1)),
            "the last token of every sentence is closed. A sentence of n tokens has its keys at "
            "positions 0 to n − 1: compare with `<` n, not with n − 1.",
        ),
        Mistake(
            "one padding too many",
            lambda tokens: _columns(_shorter_than(tokens, 1)),
            "the first padding of every sentence is open. A sentence of n tokens has its keys at "
            "positions 0 to n − 1: compare with `<`, not with `<=`.",
        ),
        Mistake(
            "one row for all sentences",
            lambda tokens: (
                (tokens != PAD_ID).all(dim=0)[None, None, None].expand(len(tokens), 1, 1, -1)
            ),
            "all sentences get one row: a key is open only where no sentence has padding. Each "
            "sentence has a row of its own.",
        ),
        Mistake(
            "a row for every query",
            lambda tokens: _columns(tokens != PAD_ID).expand(-1, 1, tokens.shape[1], -1),
            "the values are right, and repeated for every query. Size 1 there is enough, and it "
            "fits any number of queries: in attention to the encoder there are others than keys.",
        ),
        Mistake(
            "keys in the wrong dimension",
            lambda tokens: (tokens != PAD_ID)[:, :, None, None],
            "the two new dimensions stand at the end: (batch, key_len, 1, 1). The keys would "
            "stand where the heads are. Keys belong into the last dimension.",
        ),
        Mistake(
            "batch in the wrong dimension",
            lambda tokens: (tokens != PAD_ID)[None, :, None, :],
            "the batch stands where the heads are: (1, batch, 1, key_len). It must stay first.",
        ),
        Mistake(
            "all special tokens closed",
            lambda tokens: _columns(tokens > 3),
            "ids 1 to 3 are closed too: begin, end and the unknown word. They are tokens of the "
            "sentence. Only id 0 is padding.",
        ),
        Mistake(
            "numbers",
            lambda tokens: _columns(tokens != PAD_ID).float(),
            "the places are right, the values are the numbers 1 and 0. A mask of numbers is "
            "*added* to the scores, so it would close nothing. Return booleans.",
        ),
        Mistake(
            "additive",
            lambda tokens: torch.zeros(len(tokens), 1, 1, tokens.shape[1]).masked_fill(
                _columns(tokens == PAD_ID), float("-inf")
            ),
            "this is an additive mask: 0 where open, −∞ where closed. It would work with PyTorch's "
            "function. Here masks are boolean, and True means may attend.",
        ),
        Mistake(
            "everything open",
            lambda tokens: _columns(torch.ones_like(tokens, dtype=torch.bool)),
            "the mask is True everywhere: it closes nothing.",
        ),
        Mistake(
            "causal as well",
            lambda tokens: (
                _columns(tokens != PAD_ID)
                & torch.ones(tokens.shape[1], tokens.shape[1], dtype=torch.bool).tril()
            ),
            "later keys are closed as well, and the mask has a row for every query. Close padding "
            "only; the causal mask is joined to it where it is needed.",
        ),
        Mistake(
            "start token only",
            lambda tokens: _columns(tokens == BOS_ID),
            "only the start token is open. Every id but 0 is a token of the sentence.",
        ),
        Mistake(
            "nothing open",
            lambda tokens: _columns(tokens < 0),
            "the mask is False everywhere: it closes every key. No id is below 0.",
        ),
        Mistake(
            "ids for truth",
            _columns,
            "these are the ids themselves. Compare them with 0: the mask holds True and False.",
        ),
        Mistake(
            "first sentence only",
            lambda tokens: _columns(tokens != PAD_ID)[:1],
            "the mask has a row for the first sentence only. Each sentence has its own padding.",
        ),
    ],
    symptoms=[
        Symptom(
            "too few dimensions",
            _has_no_room_for_heads,
            "the mask has fewer than four dimensions. Scores have (batch, heads, query_len, "
            "key_len); give the mask a dimension for each, of size 1 where it is the same for all.",
        ),
        Symptom(
            "a copy for each head",
            lambda result, expected, given: result.ndim == 4 and result.shape[1] > 1,
            "dimension 1, that of the heads, is larger than 1. The mask is the same for all heads, "
            "so size 1 is enough, and it fits any number of heads.",
        ),
    ],
    right="`pad_mask` is right: one row a sentence, True at its tokens, and room for heads and "
    "queries",
)
