import pytest
import torch
from torch import nn

from transformer import MultiHeadAttention, TransformerConfig
from transformer.feed_forward import PositionwiseFeedForward
from transformer.layers import DecoderLayer, EncoderLayer, ResidualNorm


def config(**changes):
    return TransformerConfig(
        **{"vocab_size": 10, "d_model": 8, "n_heads": 2, "d_ff": 16, "dropout": 0.0, **changes}
    )


def residual(norm):
    """A residual connection whose layer norm has weights that show where it was applied."""
    module = ResidualNorm(config(norm=norm))
    nn.init.constant_(module.layer_norm.weight, 3.0)
    nn.init.constant_(module.layer_norm.bias, 1.0)
    return module


def around(module, x, sublayer):
    return module(x, sublayer(module.before(x)))


def test_post_norm_normalises_the_sum_and_pre_norm_the_input():
    """The most common mistake in public code: post-norm in print, pre-norm in the program."""
    x = torch.randn(2, 3, 8, generator=torch.Generator().manual_seed(0))
    post, pre = residual("post"), residual("pre")
    normalised = [around(module, x, torch.sin) for module in (post, pre)]
    torch.testing.assert_close(normalised[0], post.layer_norm(x + torch.sin(x)))
    torch.testing.assert_close(normalised[1], x + torch.sin(pre.layer_norm(x)))
    assert not torch.allclose(*normalised)


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_dropout_falls_on_the_sublayer_not_on_the_sum(norm):
    """§5.4: applied to the output of each sub-layer, before it is added and normalised."""
    module = ResidualNorm(config(norm=norm, dropout=0.5))
    module.layer_norm = nn.Identity()  # it would hide what it is given
    x = torch.ones(1, 1, 8)
    torch.manual_seed(0)
    output = module(x, torch.ones_like(x))
    assert set(output.flatten().tolist()) == {1.0, 3.0}  # x + 0 or x + 1/(1 − 0.5)
    assert set(module.eval()(x, torch.ones_like(x)).flatten().tolist()) == {2.0}


@pytest.mark.parametrize("layer", [EncoderLayer, DecoderLayer])
def test_every_attention_of_a_layer_has_the_configured_dropout(layer):
    rates = [
        module.dropout
        for module in layer(config(attention_dropout=0.3)).modules()
        if isinstance(module, MultiHeadAttention)
    ]
    assert rates == [0.3] * (1 if layer is EncoderLayer else 2)


@pytest.mark.parametrize(("layer", "count"), [(EncoderLayer, 2), (DecoderLayer, 3)])
def test_every_sublayer_has_its_own_residual(layer, count):
    assert len(layer(config()).residuals) == count


def test_decoder_layer_asks_the_memory_with_its_own_states():
    torch.manual_seed(0)
    layer = DecoderLayer(config())
    x, memory = torch.randn(1, 3, 8), torch.randn(1, 5, 8)
    mask = torch.ones(1, 1, 1, 5, dtype=torch.bool)
    _, self_weights, cross_weights = layer(x, memory, None, mask, need_weights=True)
    assert self_weights.shape == (1, 2, 3, 3)
    assert cross_weights.shape == (1, 2, 3, 5)


def test_feed_forward_is_two_convolutions_of_width_one():
    """§3.3's own description; a network that mixed positions would differ."""
    torch.manual_seed(0)
    ours = PositionwiseFeedForward(d_model=8, d_ff=16)
    x = torch.randn(2, 5, 8)
    first = nn.functional.conv1d(x.transpose(1, 2), ours.expand.weight[..., None], ours.expand.bias)
    second = nn.functional.conv1d(
        torch.relu(first), ours.contract.weight[..., None], ours.contract.bias
    )
    torch.testing.assert_close(ours(x), second.transpose(1, 2), rtol=1e-5, atol=1e-5)
    order = torch.tensor([3, 0, 4, 1, 2])
    torch.testing.assert_close(ours(x[:, order]), ours(x)[:, order])


def test_the_bend_is_a_relu_unless_it_is_told_to_be_swish():
    """§3.3 has max(0, x); published models have x · sigmoid(x)."""
    x, bent = torch.randn(2, 3, 8), {"relu": torch.relu, "swish": lambda y: y * torch.sigmoid(y)}
    assert TransformerConfig.base().activation == "relu"
    for name, bend in bent.items():
        for ours in (
            PositionwiseFeedForward(d_model=8, d_ff=6, activation=name),
            EncoderLayer(config(d_model=8, activation=name)).feed_forward,
        ):
            torch.testing.assert_close(ours(x), ours.contract(bend(ours.expand(x))))
    assert PositionwiseFeedForward(d_model=8, d_ff=6).activation(-x).min() == 0


def test_a_feed_forward_network_has_biases_unless_it_is_told_not_to():
    assert PositionwiseFeedForward(d_model=4, d_ff=8).expand.bias is not None
    assert PositionwiseFeedForward(d_model=4, d_ff=8).contract.bias is not None
    without = PositionwiseFeedForward(d_model=4, d_ff=8, bias=False)
    assert without.expand.bias is without.contract.bias is None


@pytest.mark.parametrize("layer", [EncoderLayer, DecoderLayer])
def test_every_attention_of_a_layer_has_the_configured_sizes(layer):
    """Chosen sizes of keys and values are not those that follow from d_model."""
    attentions = [
        module
        for module in layer(config(d_k=3, d_v=5)).modules()
        if isinstance(module, MultiHeadAttention)
    ]
    for attention in attentions:
        assert attention.key_proj.out_features == attention.query_proj.out_features == 2 * 3
        assert attention.value_proj.out_features == attention.output_proj.in_features == 2 * 5


def test_layers_return_weights_only_when_they_are_asked():
    x, mask = torch.zeros(1, 3, 8), torch.ones(1, 1, 1, 3, dtype=torch.bool)
    assert EncoderLayer(config())(x, mask)[1] is None
    assert DecoderLayer(config())(x, x, None, mask)[1:] == (None, None)


@pytest.mark.parametrize("layer", [EncoderLayer, DecoderLayer])
def test_a_layer_without_biases_has_none_anywhere(layer):
    """Neither in its attentions nor in its networks nor in its layer norms."""
    with_biases, without = (layer(config(bias=bias)).state_dict() for bias in (True, False))
    assert [name for name in without if name.endswith("bias")] == []
    assert [name for name in with_biases if not name.endswith("bias")] == list(without)
