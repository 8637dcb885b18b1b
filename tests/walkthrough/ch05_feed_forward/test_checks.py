"""The checks of chapter 05 accept what is right and name what is wrong."""

import pytest
import torch
from torch import nn

from transformer.analysis.cost import attention_flops, feed_forward_flops
from transformer.config import TransformerConfig
from transformer.feed_forward import PositionwiseFeedForward
from walkthrough.ch05_feed_forward import checks
from walkthrough.checking.soundness import assert_check_is_sound

ALL = [
    checks.feed_forward,
    checks.by_convolutions,
    checks.is_position_wise,
    checks.feed_forward_share,
]


@pytest.mark.parametrize("check", ALL, ids=lambda check: check.name)
def test_check_names_every_mistake_it_lists(check):
    assert_check_is_sound(check)
    assert len(check.mistakes) >= 3


def test_the_packages_class_is_right():
    def package(x, w1, b1, w2, b2):
        module = PositionwiseFeedForward(d_model=w1.shape[0], d_ff=w1.shape[1])
        with torch.no_grad():
            for linear, weight, bias in ((module.expand, w1, b1), (module.contract, w2, b2)):
                linear.weight.copy_(weight.T)
                linear.bias.copy_(bias)
            return module(x)

    assert checks.feed_forward(package)


def test_a_sum_over_hidden_units_is_right():
    def by_unit(x, w1, b1, w2, b2):
        total = torch.zeros_like(x) + b2
        for column, level, row in zip(w1.T, b1, w2, strict=True):
            total = total + (x @ column + level).clamp(min=0)[..., None] * row
        return total

    assert checks.feed_forward(by_unit)


def test_the_convolutions_weights_may_be_used_as_matrices():
    def with_matrices(x, conv1, conv2):
        hidden = torch.relu(x @ conv1.weight[..., 0].T + conv1.bias)
        return hidden @ conv2.weight[..., 0].T + conv2.bias

    assert checks.by_convolutions(with_matrices)


def test_a_test_by_gradients_is_right():
    def by_jacobian(layer, x):
        jacobian = torch.autograd.functional.jacobian(layer, x).abs().sum((1, 3))
        jacobian.fill_diagonal_(0.0)
        same = all(
            torch.allclose(layer(x.roll(s, 0)), layer(x).roll(s, 0), atol=1e-4)
            for s in range(len(x))
        )
        return bool((jacobian < 1e-6).all()) and same

    assert checks.is_position_wise(by_jacobian)


def test_two_neighbours_that_change_places_are_too_little():
    def swaps(layer, x):
        order = torch.tensor([1, 0, 2, 3, 4, 5])
        moved = torch.autograd.functional.jacobian(layer, x).abs().sum((1, 3))
        separate = bool((moved.fill_diagonal_(0.0) < 1e-6).all())
        return separate and torch.allclose(layer(x[order]), layer(x)[order], atol=1e-5)

    assert "neighbours" in checks.is_position_wise(swaps).message


def test_a_layer_test_that_changes_its_argument_is_told_to_copy():
    def in_place(layer, x):
        before = layer(x)
        x[0] += 1.0
        return torch.allclose(layer(x), before)

    assert "clone" in checks.is_position_wise(in_place).message


def test_the_share_is_the_one_that_the_packages_count_gives():
    def counted(d_model, d_ff, length):
        config = TransformerConfig(vocab_size=10, d_model=d_model, d_ff=d_ff, n_heads=4)
        network = feed_forward_flops(config, length=length)
        attention = attention_flops(config, query_len=length, key_len=length).total
        return network / (network + attention)

    assert checks.feed_forward_share(counted)


def test_a_layer_of_words_and_channels_exchanged_is_reported_with_its_line():
    def wrong(x, conv1, conv2):
        return nn.functional.relu(conv1(x)).transpose(1, 2)

    verdict = checks.by_convolutions(wrong)
    assert verdict.status == "wrong"
