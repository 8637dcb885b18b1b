"""The check of chapter 03 on the decoder's input, made from the gold tokens (§3.1)."""

from collections.abc import Callable

import torch
from torch import Tensor

from transformer.config import BOS_ID, EOS_ID, PAD_ID, UNK_ID
from walkthrough.checking.base import Arguments, Case, Check, Mistake, Symptom, fixed


def tokens_case(label: str, rows: list[list[int]]) -> Case:
    """Return a case that hands over one batch of ids."""
    return fixed(label, torch.tensor(rows))


def _shift_right(target_out: Tensor) -> Tensor:
    start = torch.full_like(target_out[:, :1], BOS_ID)
    shifted = torch.cat([start, target_out[:, :-1]], dim=1)
    return shifted.masked_fill(shifted == EOS_ID, PAD_ID)


def _started_with(start_id: int) -> Callable[[Tensor], Tensor]:
    def shift(target_out: Tensor) -> Tensor:
        shifted = _shift_right(target_out)
        shifted[:, 0] = start_id
        return shifted

    return shift


def _shift_left(target_out: Tensor) -> Tensor:
    end = torch.full_like(target_out[:, :1], PAD_ID)
    return torch.cat([target_out[:, 1:], end], dim=1)


def _with_end_tokens(target_out: Tensor) -> Tensor:
    start = torch.full_like(target_out[:, :1], BOS_ID)
    return torch.cat([start, target_out[:, :-1]], dim=1)


def _only_end_replaced(target_out: Tensor) -> Tensor:
    return target_out.masked_fill(target_out == EOS_ID, PAD_ID)


def _first_word_lost(target_out: Tensor) -> Tensor:
    read = _only_end_replaced(target_out)
    read[:, 0] = BOS_ID
    return read


def _one_longer(target_out: Tensor) -> Tensor:
    start = torch.full_like(target_out[:, :1], BOS_ID)
    return torch.cat([start, target_out], dim=1)


def _start(target_out: Tensor) -> Tensor:
    return torch.full_like(target_out[:, :1], BOS_ID)


def _two_places(target_out: Tensor) -> Tensor:
    start = _start(target_out)
    shifted = torch.cat([start, start, target_out], dim=1)[:, : target_out.shape[1]]
    return shifted.masked_fill(shifted == EOS_ID, PAD_ID)


def _one_longer_padded(target_out: Tensor) -> Tensor:
    return _only_end_replaced(_one_longer(target_out))


def _holds_floats(result: Tensor, expected: Tensor, given: Arguments) -> bool:
    return result.is_floating_point()


def _begins_with_a_word(result: Tensor, expected: Tensor, given: Arguments) -> bool:
    return bool((result[:, 0] != BOS_ID).any())


shift_right = Check(
    name="shift_right",
    reference=_shift_right,
    cases=[
        tokens_case(
            "sentences of different length",
            [[5, 9, 8, 7, 2], [6, 2, 0, 0, 0], [4, 3, 5, 2, 0]],
        ),
        tokens_case("one sentence of one word", [[9, 2]]),
        tokens_case("sentences of equal length", [[4, 5, 6, 2], [7, 7, 8, 2]]),
    ],
    mistakes=[
        Mistake(
            "end tokens kept",
            _with_end_tokens,
            "right for the longest sentences. In shorter ones the end token is still there: the "
            "decoder reads eos at a place where nothing is left to predict. Make it padding.",
        ),
        Mistake(
            "rolled",
            lambda target_out: target_out.roll(1, dims=1),
            "`roll` brings the last token round to the front: the decoder begins with eos or with "
            "padding. The first column must be bos.",
        ),
        Mistake(
            "rolled over the batch",
            lambda target_out: target_out.roll(1, dims=0),
            "this rolls over the batch: every sentence gets the tokens of another one. Positions "
            "are dimension 1.",
        ),
        Mistake(
            "shifted left",
            _shift_left,
            "this is a shift to the left: the decoder would read the token *after* the one it must "
            "predict.",
        ),
        Mistake(
            "not shifted",
            lambda target_out: target_out.clone(),
            "nothing is shifted: position t reads token t, the one it must predict. It would learn "
            "to copy.",
        ),
        Mistake(
            "not shifted, end replaced",
            _only_end_replaced,
            "the end tokens are gone, but nothing is shifted: position t reads token t, the one it "
            "must predict.",
        ),
        Mistake(
            "first word overwritten",
            _first_word_lost,
            "bos overwrites the first word and the rest stays where it is: from position 1 on, the "
            "decoder reads the token it must predict. Move the words before you put bos in.",
        ),
        Mistake(
            "one longer",
            _one_longer,
            "bos is in front and nothing was dropped: the input is one position longer than the "
            "gold, so rows and predictions do not pair up.",
        ),
        Mistake(
            "first word dropped",
            lambda target_out: torch.cat([_start(target_out), target_out[:, 1:]], dim=1),
            "bos overwrites the first word, and the rest, end tokens included, stays where it is. "
            "Drop the *last* column, `target_out[:, :-1]`, and put bos before what remains.",
        ),
        Mistake(
            "start token behind",
            lambda target_out: torch.cat([target_out[:, :-1], _start(target_out)], dim=1),
            "bos stands at the end and nothing has moved. It comes first, and the words move one "
            "place to the right.",
        ),
        Mistake(
            "two places",
            _two_places,
            "the words have moved two places to the right. One is enough: position t reads what "
            "position t − 1 had to predict.",
        ),
        Mistake(
            "start token in front, end tokens kept as they were",
            _one_longer_padded,
            "bos is in front, the end tokens are padding, and nothing was dropped: the input is "
            "one position longer than the gold. Leave out the last column.",
        ),
        Mistake(
            "unknown words removed",
            lambda target_out: _with_end_tokens(target_out).masked_fill(
                (_with_end_tokens(target_out) == EOS_ID) | (_with_end_tokens(target_out) == UNK_ID),
                PAD_ID,
            ),
            "id 3, the unknown word, became padding as well. It stands for a word of the "
            "sentence. Only id 2, the end token, goes.",
        ),
        Mistake(
            "padding became the start token",
            lambda target_out: _shift_right(target_out).masked_fill(
                _shift_right(target_out) == PAD_ID, BOS_ID
            ),
            "the end tokens and the padding became bos. They are padding, id 0; bos stands in "
            "front only.",
        ),
        Mistake(
            "ids as floats",
            lambda target_out: _shift_right(target_out).float(),
            "the places are right, the values are floats. An id is the number of a row in the "
            "embedding table, so ids stay whole numbers: build new tensors from `target_out` "
            "(`torch.full_like`) or with `dtype=torch.long`.",
        ),
        Mistake(
            "padding for bos",
            _started_with(PAD_ID),
            "the sentences begin with id 0. That is padding here, and its key is masked: the first "
            "row would have nothing to look at. Begin with bos, id 1. (T5 does start with its "
            "padding token, and leaves that key open.)",
        ),
        Mistake(
            "end token for bos",
            _started_with(EOS_ID),
            "the sentences begin with eos, id 2. Some libraries do that; here bos, id 1, starts a "
            "sentence.",
        ),
    ],
    symptoms=[
        Symptom(
            "floats",
            _holds_floats,
            "the values are floats. An id is the number of a row in the embedding table, so ids "
            "stay whole numbers; something else differs as well.",
        ),
        Symptom(
            "no bos",
            _begins_with_a_word,
            "the first column is not bos everywhere; something else may differ as well.",
        ),
        Symptom(
            "truth values",
            lambda result, expected, given: result.dtype == torch.bool,
            "these are truth values. Ids are asked for.",
        ),
        Symptom(
            "too few columns",
            lambda result, expected, given: 0 < result.shape[1] < expected.shape[1],
            "columns are missing. Drop one column at the right, and put one in front.",
        ),
        Symptom(
            "another id for the end",
            lambda result, expected, given: (
                bool(((result != expected) & (given.positional[0].roll(1, 1) == EOS_ID)).any())
                and bool((result == expected)[given.positional[0].roll(1, 1) != EOS_ID].all())
            ),
            "where the end token of a shorter sentence stood, the decoder is to read padding, and "
            "padding is id 0.",
        ),
        Symptom(
            "words lost",
            lambda result, expected, given: bool(((expected > UNK_ID) & (result == PAD_ID)).any()),
            "a word became padding. The words all stay; only the end token goes.",
        ),
    ],
    right="`shift_right` is right: what `collate` builds as `target_in`",
)
