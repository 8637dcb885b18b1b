"""The checks of chapter 03 accept what is right and name what is wrong."""

import pytest
import torch

from transformer.config import EOS_ID, PAD_ID
from transformer.data.batching import collate
from walkthrough.ch03_masks import checks
from walkthrough.checking.soundness import assert_check_is_sound

ALL = [checks.pad_mask, checks.decoding_mask, checks.shift_right, checks.has_leak]


@pytest.mark.parametrize("check", ALL, ids=lambda check: check.name)
def test_check_names_every_mistake_it_lists(check):
    assert_check_is_sound(check)
    assert len(check.mistakes) >= 3


def test_padding_mask_written_in_another_way_is_right():
    def pad_mask(tokens):
        return tokens.bool().unsqueeze(1).unsqueeze(1)

    assert checks.pad_mask(pad_mask)


def test_whole_numbers_are_no_booleans_and_not_called_floats():
    pad = checks.pad_mask(lambda tokens: (tokens != PAD_ID)[:, None, None, :].byte())
    causal = checks.decoding_mask(lambda q, k: torch.ones(q, k, dtype=torch.int).tril(k - q))
    for verdict in (pad, causal):
        assert verdict.mistake == "numbers"
        assert "float" not in verdict.message


def test_padding_mask_for_all_queries_shows_the_shape():
    def pad_mask(tokens):
        length = tokens.shape[1]
        return (tokens != PAD_ID)[:, None, None, :].expand(-1, 1, length, length)

    verdict = checks.pad_mask(pad_mask)
    assert verdict.status == "wrong"
    assert "shape" in verdict.message


def test_a_mask_without_room_for_heads_is_told_so_whatever_else_is_wrong():
    verdict = checks.pad_mask(lambda tokens: (tokens == PAD_ID)[:, None, :])
    assert verdict.status == "wrong"
    assert "four dimensions" in verdict.message


@pytest.mark.parametrize("rows", ["arange", "last rows", "loop"])
def test_decoding_mask_written_in_other_ways_is_right(rows):
    def decoding_mask(query_len, key_len):
        if rows == "arange":
            own = torch.arange(query_len)[:, None] + key_len - query_len
            return torch.arange(key_len) <= own
        if rows == "last rows":
            return torch.ones(key_len, key_len, dtype=torch.bool).tril()[-query_len:]
        stored = key_len - query_len
        return torch.tensor(
            [[key <= stored + query for key in range(key_len)] for query in range(query_len)]
        )

    assert checks.decoding_mask(decoding_mask)


def test_the_first_rows_of_the_full_mask_are_named():
    def decoding_mask(query_len, key_len):
        return torch.ones(key_len, key_len, dtype=torch.bool).tril()[:query_len]

    assert "last rows" in checks.decoding_mask(decoding_mask).message


def test_shift_right_is_what_collate_does():
    batch = collate([([5], [7, 8, 9, 3]), ([5], [6]), ([5], [4, 4])])
    assert checks.shift_right.reference(batch.target_out).tolist() == batch.target_in.tolist()


def test_shifting_in_place_is_right_in_value_and_named():
    def shift_right(target_out):
        target_out[:, 1:] = target_out[:, :-1].clone()
        target_out[:, 0] = 1
        target_out[target_out == EOS_ID] = PAD_ID
        return target_out

    verdict = checks.shift_right(shift_right)
    assert verdict.status == "wrong"
    assert "changes its argument" in verdict.message


def test_ids_that_became_floats_are_named():
    """`torch.zeros` holds floats unless told otherwise; floats look up no row."""

    def shift_right(target_out):
        read = torch.zeros(target_out.shape)
        read[:, 0] = 1
        read[:, 1:] = target_out[:, :-1]
        return read.masked_fill(read == EOS_ID, PAD_ID)

    assert checks.shift_right(shift_right).mistake == "ids as floats"
    with_ends = checks.shift_right(lambda target_out: target_out.float().roll(1, dims=1))
    assert with_ends.mistake == "floats"


def test_leak_detectors_written_in_other_ways_are_right():
    def by_whole_future(model, tokens, vocab_size):
        # all tokens from a position on at once; the outputs' gradient would do as well
        for position in range(1, tokens.shape[1]):
            other = tokens.clone()
            other[:, position:] = (other[:, position:] + 1) % vocab_size
            torch.manual_seed(7)
            before = model(tokens)[:, :position]
            torch.manual_seed(7)
            if not torch.allclose(before, model(other)[:, :position], atol=1e-6):
                return True
        return False

    assert checks.has_leak(by_whole_future)


def test_a_detector_that_changes_the_callers_tokens_finds_nothing_and_is_named():
    def has_leak(model, tokens, vocab_size):
        other = tokens  # no copy
        torch.manual_seed(0)
        other[:, -1] = (other[:, -1] + 1) % vocab_size
        before = model(tokens)
        torch.manual_seed(0)
        return bool((model(other) - before).abs().max() > 1e-6)

    verdict = checks.has_leak(has_leak)
    assert verdict.status == "wrong"
    assert "copy" in verdict.message
