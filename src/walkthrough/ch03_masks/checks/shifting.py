"""The check of chapter 03 on the decoder's input, made from the gold tokens (§3.1)."""

import torch
from torch import Tensor

from transformer.config import BOS_ID, EOS_ID, PAD_ID
from walkthrough.checking import Check, Mistake, fixed


def _begun(target_out: Tensor, start: int = BOS_ID) -> Tensor:
    """The start token before all tokens: one position longer than the gold."""
    return torch.cat([torch.full_like(target_out[:, :1], start), target_out], dim=1)


def _without_ends(tokens: Tensor) -> Tensor:
    return tokens.masked_fill(tokens == EOS_ID, PAD_ID)


def _shift_right(target_out: Tensor) -> Tensor:
    return _without_ends(_begun(target_out)[:, :-1])


def _first_word_lost(target_out: Tensor) -> Tensor:
    return _begun(_without_ends(target_out)[:, 1:])


shift_right = Check(
    name="shift_right",
    reference=_shift_right,
    cases=[
        fixed(
            "sentences of different length",
            torch.tensor([[5, 9, 8, 7, 2], [6, 2, 0, 0, 0], [4, 3, 5, 2, 0]]),
        ),
        fixed("one sentence of one word", torch.tensor([[9, 2]])),
        fixed("sentences of equal length", torch.tensor([[4, 5, 6, 2], [7, 7, 8, 2]])),
        fixed("an empty sentence beside one of two words", torch.tensor([[2, 0, 0], [5, 6, 2]])),
    ],
    mistakes=[
        Mistake(
            "end tokens kept",
            lambda target_out: _begun(target_out)[:, :-1],
            "right for the longest sentences. In shorter ones the end token is still there: the "
            "decoder reads it at a place where nothing is left to predict. Make it padding.",
        ),
        Mistake(
            "rolled",
            lambda target_out: target_out.roll(1, dims=1),
            "`roll` brings the last token to the front: the decoder begins with the end token "
            "or with padding. The first column must be 1, the start token.",
        ),
        Mistake(
            "shifted left",
            lambda target_out: torch.cat([target_out[:, 1:], 0 * target_out[:, :1]], dim=1),
            "this is a shift to the left: the decoder would read the token *after* the one it must "
            "predict.",
        ),
        Mistake(
            "first word overwritten",
            _first_word_lost,
            "the 1 overwrites the first word and the rest stays where it is: from position 1 on, "
            "the decoder reads the token it must predict. Move the words before you put the 1 in.",
        ),
        Mistake(
            "padding for bos",
            lambda target_out: _without_ends(_begun(target_out, PAD_ID)[:, :-1]),
            "the sentences begin with id 0. That is padding here, and its key is masked: the first "
            "row would have nothing to look at. Begin with 1, the start token. (T5 does start with "
            "its padding token, and leaves that key open.)",
        ),
    ],
    right="`shift_right` is right: what `collate` builds as `target_in`",
)
