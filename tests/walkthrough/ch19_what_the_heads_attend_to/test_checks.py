"""The checks of chapter 19 accept right answers and name every mistake they list."""

import pytest
import torch
from soundness import assert_check_is_sound

from transformer.attention import MultiHeadAttention, scaled_dot_product_attention
from walkthrough.ch19_what_the_heads_attend_to import checks

ALL = [checks.fixed_distance, checks.hide, checks.without_head]


@pytest.mark.parametrize("check", ALL, ids=lambda check: check.name)
def test_check_rejects_and_names_each_mistake(check):
    assert_check_is_sound(check)


def test_an_edge_hidden_by_a_mask_is_right():
    def hide(scores, query, keys):
        mask = torch.zeros(scores.shape, dtype=torch.bool)
        for key in keys:
            mask[..., query, key] = True
        return scores.masked_fill(mask, float("-inf")).softmax(dim=-1)

    assert checks.hide(hide).status == "right"


def test_a_head_ablated_by_its_columns_of_the_last_matrix_is_right():
    def without_head(attention, x, head):
        q, k, v = (
            attention.split_heads(one(x))
            for one in (attention.query_proj, attention.key_proj, attention.value_proj)
        )
        results, _ = scaled_dot_product_attention(q, k, v)
        weight = attention.output_proj.weight.clone()
        weight[:, head * attention.d_v : (head + 1) * attention.d_v] = 0
        return attention.merge_heads(results) @ weight.T + attention.output_proj.bias

    assert checks.without_head(without_head).status == "right"


def test_all_heads_give_what_the_package_gives():
    torch.manual_seed(0)
    attention = MultiHeadAttention(d_model=8, n_heads=2).eval()
    x = torch.randn(1, 4, 8)
    one, other = (checks.without_head.reference(attention, x, head) for head in (0, 1))
    both = one + other - attention.output_proj.bias
    assert torch.allclose(both, attention(x, x, x)[0], atol=1e-6)


def test_a_score_that_is_only_low_hides_nothing_among_lower_ones():
    def hide(scores, query, keys):
        scores = scores.clone()
        scores[..., query, keys] = -50.0
        return scores.softmax(-1)

    verdict = checks.hide(hide)
    assert verdict.status == "wrong"
    assert "near −300" in verdict.message


@pytest.mark.parametrize("taken_off", [True, False])
def test_a_hook_is_taken_off_again(taken_off):
    """One that stays would silence the head in whatever is computed later."""

    def without_head(attention, x, head):
        def cut(module, given):
            merged = given[0].clone()
            merged[..., head * attention.d_v : (head + 1) * attention.d_v] = 0
            return (merged,)

        hook = attention.output_proj.register_forward_pre_hook(cut)
        mixed = attention(x, x, x)[0]
        if taken_off:
            hook.remove()
        return mixed

    verdict = checks.without_head(without_head)
    assert verdict.status == ("right" if taken_off else "wrong")
    assert taken_off or "`attention.output_proj.hooks` is different" in verdict.message


@pytest.mark.parametrize(
    ("changed", "name"),
    [
        (lambda merged, head, d_v: merged, "nothing silenced"),
        (lambda merged, head, d_v: cut_at(merged, head), "one component"),
        (lambda merged, head, d_v: cut_at(merged.mT, head).mT, "a position"),
        (
            lambda merged, head, d_v: merged - cut_at(merged, slice(head * d_v, (head + 1) * d_v)),
            "that head alone",
        ),
    ],
)
def test_what_is_cut_in_place_of_a_head_is_named(changed, name):
    def without_head(attention, x, head):
        parts = attention.query_proj(x), attention.key_proj(x), attention.value_proj(x)
        q, k, v = map(attention.split_heads, parts)
        found = (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1) @ v
        return attention.output_proj(changed(attention.merge_heads(found), head, attention.d_v))

    assert checks.without_head(without_head).mistake == name


def cut_at(x, index):
    """A copy that is 0 at an index of the last dimension."""
    x = x.clone()
    x[..., index] = 0
    return x


def test_a_mask_the_wrong_way_round_is_named():
    def hide(scores, query, keys):
        closed = torch.ones(scores.shape[-1], dtype=torch.bool)
        closed[keys] = False
        scores = scores.clone()
        scores[..., query, closed] = float("-inf")
        return scores.softmax(-1)

    assert checks.hide(hide).mistake == "all others hidden"


def test_a_word_may_be_its_own_answer():
    def fixed_distance(asked):
        kept = [(q, tuple(a for a in found if a != q)) for q, found in asked]
        n = sum(bool(found) for _, found in asked)
        distance, share = checks.fixed_distance.reference(kept)
        return distance, share * sum(bool(found) for _, found in kept) / n

    assert "look at themselves" in checks.fixed_distance(fixed_distance).message
