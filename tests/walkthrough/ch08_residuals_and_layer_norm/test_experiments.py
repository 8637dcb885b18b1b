"""The experiments of chapter 08 measure what they say."""

import pytest
import torch

from transformer.config import TransformerConfig
from transformer.model import Transformer
from walkthrough.ch08_residuals_and_layer_norm import experiments
from walkthrough.ch08_residuals_and_layer_norm.experiments import sight
from walkthrough.lab import copying


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def test_gradient_norms_are_those_of_the_layers_outputs():
    model = copying.new_model("post", "scaled", seed=0, n_layers=2)
    found = experiments.gradient_norms(model, seed=1)
    kept = {}

    def hook(module, given, output):
        output[0].register_hook(lambda grad: kept.update(norm=grad.norm().item()))

    handle = model.encoder.layers[0].register_forward_hook(hook)
    copying.copy_loss(model, copying.sentences(64, generator(1))).backward()
    handle.remove()
    assert found["encoder"][0] == pytest.approx(kept["norm"])
    assert [len(found[side]) for side in ("encoder", "decoder")] == [2, 2]


def test_without_residuals_a_sublayer_that_says_nothing_leaves_nothing():
    def out(model):
        for layer in model.encoder.layers:
            layer.self_attention.output_proj.weight.data.zero_()
            layer.feed_forward.contract.weight.data.zero_()
        return model.encode(copying.sentences(2, generator()))

    model = copying.new_model("post", "xavier", seed=0, n_layers=2)
    assert out(model).abs().max() > 0.5
    assert out(experiments.without_residuals(model)).abs().max() == 0
    with pytest.raises(ValueError, match="got norm='pre'"):
        experiments.without_residuals(copying.new_model("pre", "xavier", seed=0, n_layers=1))


def test_taking_residuals_out_reaches_every_sublayer():
    model = experiments.without_residuals(copying.new_model("post", "xavier", seed=0, n_layers=2))
    kinds = [type(each).__name__ for each in model.modules()]
    assert kinds.count("NoResidual") == 2 * 2 + 3 * 2
    assert kinds.count("ResidualNorm") == 0


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_branches_of_double_size_have_four_times_the_share(norm):
    def first_share(factor):
        model = copying.new_model(norm, "xavier", seed=0, n_layers=1)
        model.encoder.layers[0].self_attention.output_proj.weight.data.mul_(factor)
        return experiments.branch_shares(model)[0]

    assert first_share(2.0) == pytest.approx(4 * first_share(1.0), rel=1e-4)


def test_all_of_a_word_is_left_when_branches_say_nothing_and_less_when_they_do():
    model = copying.new_model("post", "scaled", seed=0, n_layers=2)
    start, *later = experiments.remaining(model)
    assert start == pytest.approx(1)
    assert all(0 < left < 0.99 for left in later)
    for layer in model.encoder.layers:
        layer.self_attention.output_proj.weight.data.zero_()
        layer.feed_forward.contract.weight.data.zero_()
    assert experiments.remaining(model) == pytest.approx([1, 1, 1], abs=1e-4)


def test_words_are_alike_when_attention_hands_all_of_them_the_same():
    model = copying.new_model("post", "xavier", seed=0, n_layers=1)
    attention = model.encoder.layers[0].self_attention
    attention.query_proj.weight.data.zero_()  # equal weights for all words
    attention.output_proj.weight.data.mul_(100)
    model.encoder.layers[0].feed_forward.contract.weight.data.zero_()
    before, after = experiments.alikeness(model)
    assert before < 0.5
    assert after > 0.99


def test_the_first_update_moves_more_at_a_higher_rate():
    def moved(rate):
        return experiments.first_update(
            copying.new_model("post", "scaled", seed=0, n_layers=1), rate=rate
        )

    assert 0 < moved(1e-4) < 0.1 < moved(1e-2)


def test_updates_to_a_loss_are_the_first_of_the_curve_or_none():
    curve = [(20, 2.0), (40, 0.4), (60, 0.6)]
    assert copying.updates_to(0.5, curve) == 40
    assert copying.updates_to(0.1, curve) is None


def test_a_decoder_that_finds_the_same_everywhere_is_not_pulled_at_where_it_looks():
    model = copying.new_model("post", "xavier", seed=0, n_layers=1)
    before = experiments.where_over_what(model)
    for layer in model.encoder.layers:
        layer.residuals[-1].layer_norm.weight.data.zero_()  # all words become the bias
        layer.residuals[-1].layer_norm.bias.data.normal_()
    assert before > 0.05
    assert experiments.where_over_what(model) < 1e-4
    assert all(parameter.grad is None for parameter in model.parameters())


def test_places_of_a_sentence_are_alike_when_the_encoder_makes_them_so():
    torch.manual_seed(0)
    model = Transformer(TransformerConfig.tiny(vocab_size=20)).eval()
    before = sight.alike(model, [5, 6, 7, 8])
    last = model.encoder.layers[-1].residuals[-1].layer_norm
    last.weight.data.zero_()
    last.bias.data.normal_()
    assert before < 0.9
    assert sight.alike(model, [5, 6, 7, 8]) == pytest.approx(1, abs=1e-5)
