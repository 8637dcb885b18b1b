"""Today's pieces do what they are said to do, and change nothing where they are off."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from transformer.attention import MultiHeadAttention
from transformer.cache import KeyValueCache
from transformer.config import TransformerConfig
from transformer.masks import causal_mask
from walkthrough.ch20_what_came_after.blocks import SwiGLU, TodaysAttention, stack, turned

CONFIG = TransformerConfig(vocab_size=12, d_model=32, n_heads=4, n_layers=2, dropout=0.0)
ALL = ("pre-norm", "RMSNorm", "RoPE", "SwiGLU", "no biases", "QK-norm", "2 groups")


def test_scores_of_turned_vectors_depend_on_the_distance_alone():
    query, key = torch.randn(2, 1, 6, 8)
    scores = turned(query) @ turned(key).mT
    later = turned(query, start=40) @ turned(key, start=40).mT
    torch.testing.assert_close(scores, later, atol=1e-4, rtol=0)
    assert not torch.allclose(scores, query @ key.mT, atol=1e-2)


def test_with_everything_off_it_is_the_packages_attention():
    torch.manual_seed(0)
    theirs = MultiHeadAttention(d_model=32, n_heads=4)
    ours = TodaysAttention(CONFIG)
    ours.load_state_dict(theirs.state_dict())
    x = torch.randn(2, 5, 32)
    mask = causal_mask(5)
    for mine, other in zip(
        ours(x, x, x, mask, need_weights=True), theirs(x, x, x, mask, need_weights=True),
        strict=True,
    ):  # fmt: skip
        torch.testing.assert_close(mine, other)


@pytest.mark.parametrize("n_groups", [4, 2, 1])
def test_a_cache_gives_what_the_whole_sentence_gives_and_holds_the_groups_only(n_groups):
    torch.manual_seed(0)
    attention = TodaysAttention(CONFIG, rotary=True, n_groups=n_groups, qk_norm=True)
    x = torch.randn(2, 6, 32)
    whole, _ = attention(x, x, x, causal_mask(6))
    cache = KeyValueCache(growing=True)
    steps = [attention(*[x[:, i : i + 1]] * 3, cache=cache)[0] for i in range(6)]
    torch.testing.assert_close(torch.cat(steps, dim=1), whole, atol=1e-5, rtol=1e-4)
    nothing = torch.empty(2, n_groups, 0, 8)
    assert [part.shape for part in cache.append(nothing, nothing)] == [(2, n_groups, 6, 8)] * 2


def test_swiglu_has_the_weights_of_two_matrices_and_follows_its_formula():
    ours = SwiGLU(d_model=48, d_ff=192, bias=False)
    assert sum(p.numel() for p in ours.parameters()) == 2 * 48 * 192
    x = torch.randn(3, 48)
    gate, value = x @ ours.gate.weight.T, x @ ours.expand.weight.T
    expected = (gate * torch.sigmoid(gate) * value) @ ours.contract.weight.T
    torch.testing.assert_close(ours(x), expected)


def test_every_change_is_made_to_every_block():
    model = stack(CONFIG, ALL)
    names = [name for name, _ in model.named_parameters()]
    assert not any(name.endswith("bias") for name in names)
    assert not any(isinstance(module, nn.LayerNorm) for module in model.modules())
    assert sum(isinstance(module, SwiGLU) for module in model.modules()) == 2
    assert sum(isinstance(module, TodaysAttention) for module in model.modules()) == 2
    assert model.positions is None
    assert model.encoder.final_norm.weight.shape == (32,)


def test_without_changes_it_is_the_block_of_2017():
    torch.manual_seed(0)
    model = stack(CONFIG)
    assert not any(isinstance(module, TodaysAttention | nn.RMSNorm) for module in model.modules())
    torch.manual_seed(0)
    again = stack(CONFIG)
    for one, other in zip(model.parameters(), again.parameters(), strict=True):
        assert torch.equal(one, other)


def test_parts_that_are_put_in_start_as_the_package_starts_them():
    torch.manual_seed(0)
    model = stack(CONFIG, ("SwiGLU", "2 groups"))
    layer = model.encoder.layers[0]
    assert layer.self_attention.key_proj.bias.abs().max() == 0
    # Xavier's bound, and the branch's last matrix at (2N)^-0.5 of it
    bound = (6 / (32 + layer.feed_forward.contract.in_features)) ** 0.5
    assert 0.9 * bound / 2 < layer.feed_forward.contract.weight.abs().max() <= bound / 2
    assert 0.9 * bound < layer.feed_forward.gate.weight.abs().max() <= bound


@pytest.mark.parametrize(("change", "n_gates"), [("gate per head", 4), ("gate per number", 32)])
def test_a_gate_lets_through_what_a_head_found(change, n_gates):
    torch.manual_seed(0)
    attention = stack(CONFIG, [change]).encoder.layers[0].self_attention
    assert attention.gate.out_features == n_gates
    x = torch.randn(2, 5, 32)
    with torch.no_grad():
        attention.gate.weight.zero_()
        attention.gate.bias.fill_(60.0)  # open
        plain = MultiHeadAttention(d_model=32, n_heads=4)
        plain.load_state_dict(attention.state_dict(), strict=False)
        torch.testing.assert_close(attention(x, x, x)[0], plain(x, x, x)[0])
        attention.gate.bias[: n_gates // 4] = -60.0  # the first head is closed
        plain.output_proj.weight[:, :8] = 0
        torch.testing.assert_close(attention(x, x, x)[0], plain(x, x, x)[0])


def test_unknown_changes_and_odd_groups_are_refused():
    with pytest.raises(ValueError, match="ALiBi"):
        stack(CONFIG, ["ALiBi"])
    with pytest.raises(ValueError, match="4 heads do not divide into 3 groups"):
        TodaysAttention(CONFIG, n_groups=3)


def test_qk_norm_bounds_every_score():
    attention = TodaysAttention(CONFIG, qk_norm=True)
    with torch.no_grad():
        attention.query_proj.weight.mul_(1000)
    x = torch.randn(1, 5, 32)
    q, k = attention.heads(x, x)
    assert (q @ k.mT * attention.scale).abs().max() <= 8**0.5 + 1e-3
    assert F.rms_norm(q, (8,)).allclose(q, atol=1e-4)
