import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from wrong_attention import WRONG_ATTENTIONS

from transformer import MultiHeadAttention, causal_mask, scaled_dot_product_attention
from transformer.cache import KeyValueCache
from walkthrough.lab.peers import copy_attention

TOLERANCE = {"rtol": 1e-5, "atol": 1e-5}


def random_inputs(seed=0, batch=2, heads=3, query_len=5, key_len=5, d_k=8, d_v=8):
    generator = torch.Generator().manual_seed(seed)
    shapes = ((query_len, d_k), (key_len, d_k), (key_len, d_v))
    return [torch.randn(batch, heads, *shape, generator=generator) for shape in shapes]


def ours_fused(query, key, value, attend_mask=None):
    return scaled_dot_product_attention(query, key, value, attend_mask)[0]


def ours_explicit(query, key, value, attend_mask=None):
    return scaled_dot_product_attention(query, key, value, attend_mask, need_weights=True)[0]


def agrees_with_torch(attention) -> bool:
    """Equal to PyTorch on plain inputs, under a causal mask, and with keys of another length."""
    cases = [
        (random_inputs(0), None),
        (random_inputs(1), causal_mask(5)),
        (random_inputs(2, key_len=7), torch.arange(7) < 6),
    ]
    return all(
        torch.allclose(
            attention(*inputs, mask),
            F.scaled_dot_product_attention(
                *inputs, attn_mask=None if mask is None else torch.atleast_2d(mask)
            ),
            **TOLERANCE,
        )
        for inputs, mask in cases
    )


@pytest.mark.parametrize("attention", [ours_fused, ours_explicit])
def test_equals_torch(attention):
    assert agrees_with_torch(attention)


@pytest.mark.parametrize("wrong", WRONG_ATTENTIONS, ids=lambda wrong: wrong.__name__)
def test_the_comparison_rejects(wrong):
    assert not agrees_with_torch(wrong)


def test_eq_1_by_hand():
    """Guards against agreeing with a library on the same mistake: numbers worked out on paper."""
    query = torch.tensor([[2.0, 0.0]])
    key = torch.tensor([[0.0, 5.0], [2**0.5 / 2 * torch.log(torch.tensor(3.0)), 0.0]])
    value = torch.tensor([[4.0], [8.0]])
    output, weights = scaled_dot_product_attention(query, key, value, need_weights=True)
    torch.testing.assert_close(weights, torch.tensor([[0.25, 0.75]]))  # softmax(0, ln 3)
    torch.testing.assert_close(output, torch.tensor([[7.0]]))


@given(
    seed=st.integers(0, 10_000),
    query_len=st.integers(1, 6),
    key_len=st.integers(1, 6),
    d_k=st.integers(1, 9),
    d_v=st.integers(1, 9),
)
@settings(max_examples=40, deadline=None)
def test_fused_and_explicit_paths_mean_the_same(seed, query_len, key_len, d_k, d_v):
    """Any mask, fully masked rows included."""
    inputs = random_inputs(seed, query_len=query_len, key_len=key_len, d_k=d_k, d_v=d_v)
    generator = torch.Generator().manual_seed(seed)
    mask = torch.rand(2, 1, query_len, key_len, generator=generator) < 0.5
    torch.testing.assert_close(
        ours_fused(*inputs, mask), ours_explicit(*inputs, mask), rtol=1e-5, atol=1e-5
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("attention", [ours_fused, ours_explicit])
def test_a_fully_masked_row_gives_zeros_in_every_precision(attention, dtype):
    """−1e9 overflows float16 and leaves such a row uniform; −inf alone leaves NaN."""
    inputs = [x.to(dtype) for x in random_inputs()]
    mask = torch.ones(5, 5, dtype=torch.bool)
    mask[2] = False
    output = attention(*inputs, mask)
    assert torch.isfinite(output).all()
    assert (output[:, :, 2] == 0).all()
    assert (output[:, :, 3] != 0).any()


@pytest.mark.parametrize("need_weights", [False, True])
def test_gradients_of_a_fully_masked_row_are_finite(need_weights):
    query, key, value = (x.requires_grad_() for x in random_inputs())
    mask = torch.zeros(5, 5, dtype=torch.bool)
    mask[0] = True
    output, _ = scaled_dot_product_attention(query, key, value, mask, need_weights=need_weights)
    output.sum().backward()
    assert all(torch.isfinite(x.grad).all() for x in (query, key, value))


def test_weights_are_returned_before_dropout():
    """After dropout of 0.5 rows would not sum to 1 and single weights could exceed 1."""
    torch.manual_seed(0)
    _, weights = scaled_dot_product_attention(*random_inputs(), dropout=0.5, need_weights=True)
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 3, 5))
    assert (weights > 0).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"query": torch.zeros(2, 3, 5, 4)}, "same d_k, got 4 and 8"),
        ({"value": torch.zeros(2, 3, 6, 8)}, "same length, got 5 and 6"),
        ({"attend_mask": torch.ones(5, 5)}, r"boolean .* got dtype torch.float32"),
        (
            {"attend_mask": torch.ones(5, 4, dtype=torch.bool)},
            r"scores' shape \(2, 3, 5, 5\), got \(5, 4\)",
        ),
        (
            {"attend_mask": torch.ones(7, 2, 3, 5, 5, dtype=torch.bool)},
            r"got \(7, 2, 3, 5, 5\)",
        ),
        ({"dropout": 1.0}, r"dropout must lie in \[0, 1\), got 1.0"),
    ],
)
@pytest.mark.usefixtures("as_users_run_it")
def test_bad_input_names_the_rule_and_the_values(change, message):
    query, key, value = random_inputs()
    arguments = {"query": query, "key": key, "value": value} | change
    with pytest.raises(ValueError, match=message):
        scaled_dot_product_attention(**arguments)


# Multi-head attention


def torch_attention(ours, d_model):
    """PyTorch's attention with the weights of ours."""
    theirs = torch.nn.MultiheadAttention(d_model, ours.n_heads, batch_first=True)
    copy_attention(ours, theirs)
    return theirs


@pytest.mark.parametrize("mask_kind", ["none", "causal", "padding", "both"])
@pytest.mark.parametrize("need_weights", [False, True])
def test_multi_head_equals_torch_with_copied_weights(mask_kind, need_weights):
    torch.manual_seed(0)
    ours = MultiHeadAttention(d_model=24, n_heads=3)
    theirs = torch_attention(ours, d_model=24)
    x = torch.randn(2, 5, 24)
    causal = torch.ones(5, 5, dtype=torch.bool).tril()
    padding = torch.arange(5) < torch.tensor([[5], [3]])  # (batch, key_len)
    attend_mask = {
        "none": None,
        "causal": causal,
        "padding": padding[:, None, None, :],
        "both": causal & padding[:, None, None, :],
    }[mask_kind]
    output, weights = ours(x, x, x, attend_mask, need_weights=need_weights)
    expected, expected_weights = theirs(
        x,
        x,
        x,
        attn_mask=~causal if mask_kind in ("causal", "both") else None,
        key_padding_mask=~padding if mask_kind in ("padding", "both") else None,
        average_attn_weights=False,
    )
    torch.testing.assert_close(output, expected, **TOLERANCE)
    if need_weights:
        torch.testing.assert_close(weights, expected_weights, **TOLERANCE)
    else:
        assert weights is None


def heads_merged_without_transposing(module, x):
    q, k, v = (
        module.split_heads(projection(x))
        for projection in (module.query_proj, module.key_proj, module.value_proj)
    )
    output, _ = scaled_dot_product_attention(q, k, v)
    return module.output_proj(output.reshape(*x.shape[:2], -1))


def heads_split_without_transposing(module, x):
    batch, length, _ = x.shape
    q, k, v = (
        projection(x).reshape(batch, module.n_heads, length, -1)
        for projection in (module.query_proj, module.key_proj, module.value_proj)
    )
    output, _ = scaled_dot_product_attention(q, k, v)
    return module.output_proj(output.transpose(1, 2).flatten(-2))


def without_output_projection(module, x):
    heads = (
        module.split_heads(projection(x))
        for projection in (module.query_proj, module.key_proj, module.value_proj)
    )
    return module.merge_heads(scaled_dot_product_attention(*heads)[0])


@pytest.mark.parametrize(
    "wrong",
    [
        heads_merged_without_transposing,
        heads_split_without_transposing,
        without_output_projection,
    ],
)
def test_the_multi_head_comparison_rejects(wrong):
    torch.manual_seed(0)
    ours = MultiHeadAttention(d_model=24, n_heads=3)
    x = torch.randn(2, 5, 24)
    expected, _ = torch_attention(ours, d_model=24)(x, x, x)
    torch.testing.assert_close(ours(x, x, x)[0], expected, **TOLERANCE)
    assert not torch.allclose(wrong(ours, x), expected, **TOLERANCE)


def test_one_fused_matrix_is_h_small_ones():
    """§3.2.2 writes h matrices W_i^Q ∈ R^{d_model×d_k}; ours holds them side by side."""
    torch.manual_seed(0)
    ours = MultiHeadAttention(d_model=12, n_heads=3, d_k=2, d_v=5)
    x = torch.randn(1, 4, 12)
    heads = []
    for i in range(3):
        q, k, v = (
            F.linear(x, layer.weight[i * d : (i + 1) * d], layer.bias[i * d : (i + 1) * d])
            for layer, d in ((ours.query_proj, 2), (ours.key_proj, 2), (ours.value_proj, 5))
        )
        heads.append(scaled_dot_product_attention(q, k, v)[0])
    expected = ours.output_proj(torch.cat(heads, dim=-1))
    torch.testing.assert_close(ours(x, x, x)[0], expected, **TOLERANCE)


def test_values_come_from_the_third_argument():
    """Readers take the values of encoder–decoder attention from the decoder: wrong."""
    torch.manual_seed(0)
    ours = MultiHeadAttention(d_model=8, n_heads=2)
    states, memory = torch.randn(1, 3, 8), torch.randn(1, 5, 8)
    before, _ = ours(states, memory, memory)
    moved, _ = ours(states, memory, memory + 1)
    assert not torch.allclose(before, moved)


def test_cached_steps_equal_one_pass():
    torch.manual_seed(0)
    ours = MultiHeadAttention(d_model=8, n_heads=2)
    x = torch.randn(2, 6, 8)
    expected, _ = ours(x, x, x, causal_mask(6))
    cache = KeyValueCache(growing=True)
    steps = [ours(x[:, t : t + 1], x[:, t : t + 1], x[:, t : t + 1], cache=cache) for t in range(6)]
    torch.testing.assert_close(torch.cat([out for out, _ in steps], 1), expected, **TOLERANCE)
    assert cache.length == 6


def test_fixed_cache_projects_once_and_selects_rows():
    torch.manual_seed(0)
    ours = MultiHeadAttention(d_model=8, n_heads=2)
    states, memory = torch.randn(2, 1, 8), torch.randn(2, 5, 8)
    cache = KeyValueCache(growing=False)
    ours(states, memory, memory, cache=cache)
    again, _ = ours(states, torch.full_like(memory, torch.nan), memory, cache=cache)
    torch.testing.assert_close(again, ours(states, memory, memory)[0])
    assert cache.length == 5
    cache.select(torch.tensor([1, 1, 0]))
    reordered, _ = ours(states[[1, 1, 0]], memory[[1, 1, 0]], memory[[1, 1, 0]], cache=cache)
    torch.testing.assert_close(reordered, again[[1, 1, 0]])


def test_heads_must_divide_d_model():
    with pytest.raises(ValueError, match="d_model=10, n_heads=3"):
        MultiHeadAttention(d_model=10, n_heads=3)
    MultiHeadAttention(d_model=10, n_heads=3, d_k=4, d_v=2)  # sizes given: nothing to divide


@pytest.mark.parametrize("need_weights", [False, True])
def test_dropout_of_the_weights_is_for_training_only(need_weights):
    """Always on, also in evaluation, is the classic bug; never on is its twin."""
    torch.manual_seed(0)
    plain, ours = (MultiHeadAttention(d_model=8, n_heads=2, dropout=rate) for rate in (0.0, 0.5))
    ours.load_state_dict(plain.state_dict())
    x = torch.randn(2, 5, 8)
    expected, _ = plain(x, x, x, need_weights=need_weights)
    in_training, _ = ours.train()(x, x, x, need_weights=need_weights)
    in_evaluation, _ = ours.eval()(x, x, x, need_weights=need_weights)
    torch.testing.assert_close(in_evaluation, expected, **TOLERANCE)
    assert not torch.allclose(in_training, expected, atol=1e-3)


@pytest.mark.parametrize("attention", [ours_fused, ours_explicit])
@pytest.mark.parametrize("batch", [(), (2,), (2, 3), (2, 3, 4)], ids=str)
def test_any_number_of_batch_dimensions_may_come_first(attention, batch):
    generator = torch.Generator().manual_seed(0)
    query, key, value = (
        torch.randn(*batch, length, 8, generator=generator) for length in (5, 7, 7)
    )
    mask = torch.ones(5, 7, dtype=torch.bool).tril(2)
    expected = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    torch.testing.assert_close(attention(query, key, value, mask), expected, **TOLERANCE)


def test_unscaled_scores_are_the_products_themselves():
    """As with queries √d_k times as long, which the division would make up for."""
    torch.manual_seed(0)
    scaled = MultiHeadAttention(d_model=8, n_heads=2)
    unscaled = MultiHeadAttention(d_model=8, n_heads=2, scale_scores=False)
    unscaled.load_state_dict(scaled.state_dict())
    with torch.no_grad():
        scaled.query_proj.weight.mul_(2)  # √4
        scaled.query_proj.bias.mul_(2)
    x = torch.randn(1, 5, 8)
    torch.testing.assert_close(unscaled(x, x, x)[0], scaled(x, x, x)[0], **TOLERANCE)


@pytest.mark.parametrize("given", [{"d_k": 4}, {"d_v": 4}], ids=str)
def test_a_size_left_out_must_follow_from_d_model(given):
    with pytest.raises(ValueError, match="d_model=10, n_heads=3"):
        MultiHeadAttention(d_model=10, n_heads=3, **given)
