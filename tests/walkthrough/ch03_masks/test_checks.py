"""The checks of chapter 03 accept what is right and name what is wrong."""

import pytest
import torch
from soundness import assert_check_is_sound

from transformer.config import EOS_ID, PAD_ID
from transformer.data.batching import collate
from walkthrough.ch03_masks import checks

ALL = [
    checks.decoding_mask,
    checks.shift_right,
    checks.packed_mask,
    checks.has_leak,
]


@pytest.mark.parametrize("check", ALL, ids=lambda check: check.name)
def test_check_names_every_mistake_it_lists(check):
    assert_check_is_sound(check)


def test_whole_numbers_are_no_booleans_and_not_called_floats():
    verdict = checks.decoding_mask(lambda q, k: torch.ones(q, k, dtype=torch.int).tril(k - q))
    assert "the values should be bool, yours are int32; apart from that" in verdict.message


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

    said = checks.shift_right(shift_right).message
    assert "whole numbers are expected (int64), yours are float32; apart from that" in said


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


def detector(
    *, change=None, moves=None, part=lambda outputs, position: outputs[:, :position], seed=True
):
    """A leak detector as readers write it, with one thing of one's own."""

    def next_id(tokens, position, vocab_size):
        other = tokens.clone()
        other[:, position] = (other[:, position] + 1) % vocab_size
        return other

    def far(one, two):
        return (one - two).abs().max() > 1e-6

    def has_leak(model, tokens, vocab_size):
        for position in range(1, tokens.shape[1]):
            other = (change or next_id)(tokens, position, vocab_size)
            if seed:
                torch.manual_seed(3)
            before = model(tokens)
            if seed:
                torch.manual_seed(3)
            if (moves or far)(part(before, position), part(model(other), position)):
                return True
        return False

    return has_leak


def written(make):
    def change(tokens, position, vocab_size):
        other = tokens.clone()
        other[:, position] = make(tokens, position, vocab_size)
        return other

    return change


@pytest.mark.parametrize(
    "has_leak",
    [
        detector(),
        detector(moves=lambda a, b: (a - b).abs().max() > 1e-5),
        detector(moves=lambda a, b: not torch.allclose(a, b, atol=1e-6)),
        detector(moves=lambda a, b: (a - b).norm() > 1e-5),
        detector(change=written(lambda t, p, size: (t[:, p] - 1) % size)),
        detector(change=written(lambda t, p, size: torch.where(t[:, p] == 0, 1, 0))),
    ],
)
def test_leak_detectors_that_are_right(has_leak):
    assert checks.has_leak(has_leak)


def test_a_detector_that_restores_the_token_is_right():
    def has_leak(model, tokens, vocab_size):
        for position in range(1, tokens.shape[1]):
            torch.manual_seed(0)
            before = model(tokens)[:, :position]
            old = tokens[:, position].clone()
            tokens[:, position] = (old + 1) % vocab_size
            torch.manual_seed(0)
            after = model(tokens)[:, :position]
            tokens[:, position] = old
            if (after - before).abs().max() > 1e-6:
                return True
        return False

    assert checks.has_leak(has_leak)


WRONG_DETECTORS = {
    "a tolerance of 0.1": (detector(moves=lambda a, b: (a - b).abs().max() > 0.1), "faint"),
    "allclose as it comes": (detector(moves=lambda a, b: not torch.allclose(a, b)), "as rounding"),
    "any difference": (detector(moves=lambda a, b: (a != b).any()), "as rounding may"),
    "no abs": (detector(moves=lambda a, b: (b - a).max() > 1e-6), "only outputs that grow"),
    "sum, then abs": (detector(moves=lambda a, b: (a - b).sum().abs() > 1e-4), "adds up to 0"),
    "mean of sizes": (detector(moves=lambda a, b: (a - b).abs().mean() > 1e-6), "single number"),
    "id 0": (detector(change=written(lambda t, p, size: 0)), "always write one id"),
    "the last id": (detector(change=written(lambda t, p, size: size - 1)), "always write one id"),
    "mirrored": (detector(change=written(lambda t, p, size: size - 1 - t[:, p])), "mirror it"),
    "a random id": (
        detector(change=written(lambda t, p, size: torch.randint(size, (len(t),)))),
        "wrong for",
    ),
    "no modulo": (detector(change=written(lambda t, p, size: t[:, p] + 1)), "id or a place is too"),
    "the first sentence's id for all": (
        detector(change=written(lambda t, p, size: (t[0, p] + 1) % size)),
        "each sentence's own token",
    ),
    "the first sentence": (detector(part=lambda out, p: out[0, :p]), "in the second sentence only"),
    "the first component": (detector(part=lambda out, p: out[:, :p, 0]), "last component only"),
    "the opposite": (lambda *given: not checks.has_leak.reference(*given), "value is inverted"),
    "no seed": (detector(seed=False), "two runs draw different random numbers"),
}


@pytest.mark.parametrize(("has_leak", "said"), WRONG_DETECTORS.values(), ids=list(WRONG_DETECTORS))
def test_leak_detectors_that_are_wrong_hear_why(has_leak, said):
    verdict = checks.has_leak(has_leak)
    assert verdict.status == "wrong"
    assert said in verdict.message


def test_shorter_sentences_work_until_there_is_dropout():
    def has_leak(model, tokens, vocab_size):
        torch.manual_seed(0)
        whole = model(tokens)
        for length in range(1, tokens.shape[1]):
            torch.manual_seed(0)
            if (whole[:, :length] - model(tokens[:, :length])).abs().max() > 1e-6:
                return True
        return False

    assert "a right model with dropout" in checks.has_leak(has_leak).message


def test_a_dimension_that_is_lost_in_some_cases_is_told_as_a_shape():
    verdict = checks.packed_mask(lambda numbers: checks.packed_mask.reference(numbers).squeeze(0))
    assert "in the right order, the shape is not" in verdict.message


@pytest.mark.parametrize("by", ["loop", "combination"])
def test_packed_masks_written_in_other_ways_are_right(by):
    def packed_mask(segments):
        batch, length = segments.shape
        if by == "combination":
            same = segments.unsqueeze(-1) == segments.unsqueeze(-2)
            return (same & segments[:, None].bool() & causal(length)).unsqueeze(1)
        mask = torch.zeros(batch, 1, length, length, dtype=torch.bool)
        for row in range(batch):
            for query in range(length):
                for key in range(query + 1):
                    number = segments[row, key]
                    mask[row, 0, query, key] = number != 0 and number == segments[row, query]
        return mask

    def causal(length):
        return torch.ones(length, length).tril().bool()

    assert checks.packed_mask(packed_mask)
