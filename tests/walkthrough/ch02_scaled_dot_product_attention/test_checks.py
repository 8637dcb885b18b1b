"""The checks of chapter 02 accept what is right and name what is wrong."""

import math

import pytest
import torch

from walkthrough.ch02_scaled_dot_product_attention import checks
from walkthrough.checking.soundness import assert_check_is_sound

ALL = [
    checks.attention_weights,
    checks.score_scale,
    checks.stable_softmax,
    checks.masked_attention,
    checks.additive_scores,
]


@pytest.mark.parametrize("check", ALL, ids=lambda check: check.name)
def test_check_names_every_mistake_it_lists(check):
    assert_check_is_sound(check)
    assert len(check.mistakes) >= 3


def test_weights_written_in_another_way_are_right():
    def einsum(query, key):
        scores = torch.einsum("bhqd,bhkd->bhqk", query / query.shape[-1] ** 0.5, key)
        powers = (scores - scores.amax(-1, keepdim=True)).exp()
        return powers / powers.sum(-1, keepdim=True)

    assert checks.attention_weights(einsum)


def test_two_mistakes_at_once_show_the_axis():
    def unscaled_over_queries(query, key):
        return (query @ key.mT).softmax(-2)

    verdict = checks.attention_weights(unscaled_over_queries)
    assert verdict.status == "wrong"
    assert "over queries" in verdict.message


def test_rows_of_keys_are_not_taken_for_a_wrong_axis():
    """Their columns are the queries' weights and sum to 1, as a softmax over queries would."""

    def transposed(query, key):
        return (key @ query.mT).softmax(-2)

    verdict = checks.attention_weights(transposed)
    assert "the shape should be (2, 8, 3, 5), yours is (2, 8, 5, 3)" in verdict.message


def test_a_learners_softmax_without_keepdim_is_named():
    # In the batched case such code stops; the check must still say something of use.
    def softmax(scores):
        powers = (scores - scores.max(dim=-1).values).exp()
        return powers / powers.sum(dim=-1, keepdim=True)

    verdict = checks.stable_softmax(softmax)
    assert verdict.status == "wrong"
    assert "keepdim" in verdict.message or "size" in verdict.message


def test_scores_less_their_log_sum_exp_are_right():
    def softmax(scores):
        return (scores - scores.logsumexp(-1, keepdim=True)).exp()

    assert checks.stable_softmax(softmax)


@pytest.mark.parametrize("dim", [0, -2])
def test_a_stable_softmax_over_the_queries_is_named(dim):
    def softmax(scores):
        powers = (scores - scores.amax(dim, keepdim=True)).exp()
        return powers / powers.sum(dim, keepdim=True)

    assert "columns sum to 1" in checks.stable_softmax(softmax).message


def test_masked_attention_accepts_other_ways_of_caring_for_empty_rows():
    def by_hand(query, key, value, attend_mask):
        scores = query @ key.mT / math.sqrt(query.shape[-1])
        powers = torch.where(attend_mask, (scores - scores.amax(-1, keepdim=True)).exp(), 0.0)
        return powers / powers.sum(-1, keepdim=True).clamp_min(1e-4) @ value

    def with_nan_to_num(query, key, value, attend_mask):
        scores = (query @ key.mT / 2).masked_fill(~attend_mask, float("-inf"))
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
    assert "1e4" not in verdict.message


def test_a_closed_key_with_a_little_weight_is_seen():
    def filled_with_minus_ten(query, key, value, attend_mask):
        scores = query @ key.mT / math.sqrt(query.shape[-1])
        weights = scores.masked_fill(~attend_mask, -10.0).softmax(-1)
        return weights * attend_mask.any(-1, keepdim=True) @ value

    verdict = checks.masked_attention(filled_with_minus_ten)
    assert verdict.status == "wrong"
    assert "a closed key with a very large value" in verdict.message


def test_additive_scores_accept_a_loop():
    def loop(query, key, query_proj, key_proj, v):
        rows = [
            [torch.dot(v, torch.tanh(q @ query_proj + k @ key_proj)) for k in key] for q in query
        ]
        return torch.stack([torch.stack(row) for row in rows])

    assert checks.additive_scores(loop)
