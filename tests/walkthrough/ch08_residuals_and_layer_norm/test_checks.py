"""The checks of chapter 08 accept what is right and name what is wrong."""

import pytest
import torch
from soundness import assert_check_is_sound
from torch import nn

from walkthrough.ch08_residuals_and_layer_norm import checks

ALL = [
    checks.layer_norm,
    checks.share_left,
    checks.which_block,
]


@pytest.mark.parametrize("check", ALL, ids=lambda check: check.name)
def test_check_names_every_mistake_it_lists(check):
    assert_check_is_sound(check)


def test_pytorchs_own_layer_norm_is_seen():
    def by_module(x, gain, bias, eps):
        module = nn.LayerNorm(x.shape[-1], eps=eps)
        with torch.no_grad():
            module.weight.copy_(gain)
            module.bias.copy_(bias)
        return module(x).detach()

    def by_function(x, gain, bias, eps):
        return nn.functional.layer_norm(x, x.shape[-1:], gain, bias, eps)

    for function in (by_module, by_function):
        assert checks.layer_norm(function).mistake == "forbidden"


def test_a_layer_norm_from_sums_is_right():
    def from_sums(x, gain, bias, eps):
        d = x.shape[-1]
        mean = x.sum(-1, keepdim=True) / d
        variance = ((x - mean) ** 2).sum(-1, keepdim=True) / d
        return (x - mean) * torch.rsqrt(variance + eps) * gain + bias

    assert checks.layer_norm(from_sums)


def test_a_variance_that_cancels_is_told_by_the_words_of_mean_1000():
    def from_mean_squares(x, gain, bias, eps):
        mean = x.mean(-1, keepdim=True)
        variance = (x * x).mean(-1, keepdim=True) - mean**2
        return gain * (x - mean) / (variance + eps).sqrt() + bias

    verdict = checks.layer_norm(from_mean_squares)
    assert "wrong for “words of mean 1000”" in verdict.message
    assert "centre first, then square" in verdict.message


def probed(block):
    """A diagnosis from three probes, as a reader writes it."""
    x = torch.tensor([[[1.0, 2.0, 3.0, 4.0], [10.0, 0.0, 0.0, 2.0]]])
    v = torch.tensor([0.0, 0.0, 0.0, 100.0])
    silent, loud = block(x, torch.zeros_like), block(x, lambda y: v.expand_as(y))
    if silent.abs().max() < 0.01:
        return "no residual"
    if torch.allclose(silent, x):
        return "pre" if torch.allclose(loud, x + v) else "branch"
    if loud.abs().max() > 50:
        return "forgets"
    return "post" if silent.mean(-1).abs().max() < 0.01 else "sentence"


def test_blocks_are_told_apart_by_three_probes():
    assert checks.which_block(probed)


def test_one_probe_that_returns_zeros_is_named():
    def which_block(block):
        x = torch.tensor([[[1.0, 2.0, 3.0, 4.0], [10.0, 0.0, 0.0, 2.0]]])
        silent = block(x, torch.zeros_like)
        if silent.abs().max() < 0.01:
            return "no residual"
        if torch.allclose(silent, x):
            return "pre"
        return "post" if silent.mean(-1).abs().max() < 0.01 else "sentence"

    assert checks.which_block(which_block).mistake == "silent probe"


def test_the_branchs_share_is_not_taken_for_the_words():
    """At b = 0.5 a halving looks alike: another size of branch tells them apart."""

    def halved(branch, n_sublayers, norm):
        return (0.5 / (1 + branch)) ** n_sublayers if norm == "post" else 1 / (1 + 3 * branch)

    def of_branches(branch, n_sublayers, norm):
        if norm == "post":
            return (branch / (1 + branch)) ** n_sublayers
        return 1 / (1 + n_sublayers * branch)

    assert checks.share_left(of_branches).mistake == "the branch's share"
    assert checks.share_left(halved).mistake is None


def test_a_name_that_the_table_does_not_hold_is_told_by_its_space():
    said = checks.which_block(lambda block: probed(block).replace(" ", "_")).message
    assert 'wrong for the block that is "no residual"' in said
    assert "with a space" in said
