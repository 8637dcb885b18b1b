"""The experiments of chapter 08 measure what they say."""

import pytest
import torch

from walkthrough.ch08_residuals_and_layer_norm import experiments
from walkthrough.ch08_residuals_and_layer_norm.experiments import residual
from walkthrough.lab import Job, Key, copying

TOKENS = torch.tensor([[4, 7, 9, 12, 15]])


def test_the_last_gradient_is_that_of_the_decoders_last_matrix():
    model = copying.new_model("post", "xavier", seed=0, n_layers=2)
    found = experiments.last_gradient(model, seed=1)
    last = dict(model.named_parameters())["decoder.layers.1.feed_forward.contract.weight"]
    loss = copying.copy_loss(model, copying.sentences(64, torch.Generator().manual_seed(1)))
    (gradient,) = torch.autograd.grad(loss, last)
    assert found == pytest.approx(gradient.norm().item())
    assert found == pytest.approx(experiments.last_gradient(model, seed=1)), "nothing is left over"


def test_without_residuals_a_sublayer_that_says_nothing_leaves_nothing():
    def out(model):
        for layer in model.encoder.layers:
            layer.self_attention.output_proj.weight.data.zero_()
            layer.feed_forward.contract.weight.data.zero_()
        return model.encode(TOKENS)

    model = copying.new_model("post", "xavier", seed=0, n_layers=2)
    assert out(model).abs().max() > 0.5
    assert out(experiments.without_residuals(model)).abs().max() == 0
    with pytest.raises(ValueError, match="got norm='pre'"):
        experiments.without_residuals(copying.new_model("pre", "xavier", seed=0, n_layers=1))


def test_arms_differ_in_the_residuals_alone():
    def built(name):
        arm = residual.EXPERIMENT.arm(name)
        return residual.build(Job(residual.EXPERIMENT, arm, Key(name, seed=3), None))

    with_them, without = built("4 layers"), built("4 layers, no residual")
    kinds = [type(each).__name__ for each in without.modules()]
    assert kinds.count("NoResidual") == 4 * 2 + 4 * 3
    assert kinds.count("ResidualNorm") == 0
    assert all(map(torch.equal, with_them.parameters(), without.parameters()))
    assert len(built("1 layer").encoder.layers) == 1


def test_the_stream_goes_from_what_comes_in_to_what_the_last_layer_hands_on():
    model = copying.new_model("post", "scaled", seed=0, n_layers=2)
    depths = experiments.stream(model, TOKENS)
    assert depths.shape == (3, 1, 5, 32)
    assert torch.equal(depths[-1], model.encode(TOKENS))
    assert not torch.equal(depths[0], depths[1])


def test_alikeness_is_the_mean_correlation_of_different_words():
    word = torch.tensor([1.0, 0, 0, 0])
    other = torch.tensor([0.0, 0, 1, 0])
    correlation = torch.corrcoef(torch.stack([word, other]))[0, 1]
    assert experiments.alikeness(torch.stack([word, 3 * word + 5])) == pytest.approx(1)
    assert experiments.alikeness(torch.stack([word, other])) == pytest.approx(correlation)
    assert experiments.alikeness(torch.rand(7, 5, 8)).shape == (7,)
