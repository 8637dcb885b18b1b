"""The checks of chapter 02 accept what is right and name what is wrong."""

import math

import pytest
import torch
from soundness import assert_check_is_sound

from transformer.attention import scaled_dot_product_attention
from walkthrough.ch02_scaled_dot_product_attention import checks

ALL = [
    checks.stable_softmax,
    checks.masked_attention,
    checks.streamed_attention,
]


@pytest.mark.parametrize("check", ALL, ids=lambda check: check.name)
def test_check_names_every_mistake_it_lists(check):
    assert_check_is_sound(check)


def test_a_learners_softmax_without_keepdim_is_named():
    # In the batched case such code stops; the check must still say something of use.
    def softmax(scores):
        powers = (scores - scores.max(dim=-1).values).exp()
        return powers / powers.sum(dim=-1, keepdim=True)

    verdict = checks.stable_softmax(softmax)
    assert verdict.status == "wrong"
    assert "keepdim" in verdict.message or "size" in verdict.message


def test_weights_that_share_one_sum_hear_what_they_sum_to():
    def softmax(scores):
        powers = (scores - scores.amax(-1, keepdim=True)).exp()
        return powers / powers.sum()

    assert "your values should sum to 1, and sum to" in checks.stable_softmax(softmax).message


def test_masked_attention_accepts_other_ways_of_caring_for_empty_rows():
    def by_hand(query, key, value, attend_mask):
        scores = query @ key.mT / math.sqrt(query.shape[-1])
        largest = torch.where(attend_mask, scores, scores.amin()).amax(-1, keepdim=True)
        powers = torch.where(attend_mask, (scores - largest).exp(), 0.0)
        return powers / powers.sum(-1, keepdim=True).clamp_min(1e-4) @ value

    def with_nan_to_num(query, key, value, attend_mask):
        scores = query @ key.mT / math.sqrt(query.shape[-1])
        scores = scores.masked_fill(~attend_mask, float("-inf"))
        return scores.softmax(-1).nan_to_num(0.0) @ value

    assert checks.masked_attention(by_hand)
    assert checks.masked_attention(with_nan_to_num)


def test_a_float16_overflow_is_told_apart_from_an_empty_row():
    """finfo.min fits every dtype, and still gives an empty row the mean of all values."""

    def filled_with_lowest(query, key, value, attend_mask):
        scores = query @ key.mT / math.sqrt(query.shape[-1])
        scores = scores.masked_fill(~attend_mask, torch.finfo(scores.dtype).min)
        return scores.softmax(-1) @ value

    verdict = checks.masked_attention(filled_with_lowest)
    assert verdict.status == "wrong"
    assert "mean of all" in verdict.message


def test_a_closed_key_with_a_little_weight_is_seen():
    def filled_with_minus_ten(query, key, value, attend_mask):
        scores = query @ key.mT / math.sqrt(query.shape[-1])
        weights = scores.masked_fill(~attend_mask, -10.0).softmax(-1)
        return weights * attend_mask.any(-1, keepdim=True) @ value

    verdict = checks.masked_attention(filled_with_minus_ten)
    assert verdict.status == "wrong"
    assert "a closed key with a very large value" in verdict.message


def test_weights_that_are_masked_after_softmax_and_normalised_again_are_rejected():
    def normalised_again(query, key, value, attend_mask):
        scores = query @ key.mT / math.sqrt(query.shape[-1])
        weights = scores.softmax(-1) * attend_mask
        return weights / weights.sum(-1, keepdim=True).clamp_min(1e-4) @ value

    verdict = checks.masked_attention(normalised_again)
    assert "wrong for “open scores near −60, closed ones near +60”." in verdict.message


@pytest.mark.parametrize("number", [-20.0, -100.0, -1e4, -1e9, -1e10])
def test_a_number_for_infinity_is_rejected_though_empty_rows_are_zero(number):
    def filled(query, key, value, attend_mask):
        scores = query @ key.mT / math.sqrt(query.shape[-1])
        weights = torch.where(attend_mask, scores, number).softmax(-1)
        return torch.where(attend_mask.any(-1, keepdim=True), weights, 0.0) @ value

    verdict = checks.masked_attention(filled)
    assert verdict.status == "wrong"
    assert "−∞" in verdict.message


def test_a_mean_that_moves_with_every_pair_is_right():
    """Another way to stream: keep the mixture normalised all the time."""

    def stream(query, pairs):
        largest, total, mixture = None, 0.0, 0.0
        for key, value in pairs:
            score = float(query @ key) / len(query) ** 0.5
            if largest is None:
                largest, total, mixture = score, 1.0, value
                continue
            new = max(largest, score)
            total = total * math.exp(largest - new) + math.exp(score - new)
            mixture = mixture + (value - mixture) * math.exp(score - new) / total
            largest = new
        return mixture

    assert checks.streamed_attention(stream)


def by_hand(scores, values):
    powers = [math.exp(score - max(scores)) for score in scores]
    return sum(p * v for p, v in zip(powers, values, strict=True)) / sum(powers)


def score_of(query, key):
    return float(query @ key) / len(query) ** 0.5


def listed(query, pairs):
    seen = list(pairs)
    return by_hand([score_of(query, key) for key, _ in seen], [value for _, value in seen])


def unzipped(query, pairs):
    keys, values = zip(*pairs, strict=True)
    return by_hand([score_of(query, key) for key in keys], values)


def appended(query, pairs):
    scores, values = [], []
    for key, value in pairs:
        scores.append(score_of(query, key))
        values.append(value)
    return by_hand(scores, values)


@pytest.mark.parametrize("attend", [listed, unzipped, appended])
def test_a_list_of_all_pairs_is_not_a_stream(attend):
    verdict = checks.streamed_attention(attend)
    assert verdict.status == "wrong"
    assert "handed over before are still there" in verdict.message


@pytest.mark.parametrize(
    "softmax",
    [
        lambda scores: scores.softmax(-1),
        lambda scores: torch.log_softmax(scores, -1).exp(),
        lambda scores: torch.special.softmax(scores, -1),
        lambda scores: torch.nn.Softmax(-1)(scores),
        lambda scores: torch.nn.functional.softmin(-scores, -1),
    ],
)
def test_a_softmax_of_pytorch_is_forbidden_by_any_name(softmax):
    assert checks.stable_softmax(softmax).status == "wrong"


def test_pytorchs_logsumexp_is_not_forbidden():
    assert checks.stable_softmax(lambda s: (s - s.logsumexp(-1, keepdim=True)).exp())


def test_a_transposed_mask_is_told_apart_where_it_fits():
    def transposed(query, key, value, attend_mask):
        mask = attend_mask.T if attend_mask.shape[0] == attend_mask.shape[1] else attend_mask
        return scaled_dot_product_attention(query, key, value, mask, need_weights=True)[0]

    assert "wrong for “as many queries as keys”" in checks.masked_attention(transposed).message


def test_the_pairs_are_handed_over_once_and_a_second_loop_is_told_so():
    def twice(query, pairs):
        largest = max(float(query @ key) for key, _ in pairs)
        return sum(float(query @ key) - largest for key, _ in pairs)

    assert "handed over once" in checks.streamed_attention(twice).message


def test_the_first_key_may_be_taken_before_the_loop_and_no_second_loop_is_allowed():
    def streamed(query, pairs, *, again=False):
        key, value = next(pairs)
        largest, total, output = query @ key / len(key) ** 0.5, torch.ones(()), value.clone()
        for key, value in pairs:
            score = query @ key / len(key) ** 0.5
            top = torch.maximum(largest, score)
            output = output * (largest - top).exp() + (score - top).exp() * value
            total = total * (largest - top).exp() + (score - top).exp()
            largest = top
        for _ in pairs if again else ():
            pass
        return output / total

    assert checks.streamed_attention(streamed).status == "right"
    verdict = checks.streamed_attention(lambda query, pairs: streamed(query, pairs, again=True))
    assert "handed over once" in verdict.message
