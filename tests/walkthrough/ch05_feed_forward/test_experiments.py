"""The experiments of chapter 05: arms differ in the feed-forward networks and nowhere else."""

import pytest
import torch

from walkthrough.ch05_feed_forward.experiments import bends
from walkthrough.ch05_feed_forward.experiments import width as widths
from walkthrough.lab import one_layer


@pytest.fixture(scope="module")
def task():
    return one_layer.load_task(train=300, valid=20, test=10)


def n_other(model):
    return model.n_parameters - widths.feed_forward_parameters(model)


def test_only_the_feed_forward_parameters_grow_with_the_width(task):
    models = {w: widths.new_model(task, w, seed=0) for w in (0, 16, 64)}
    assert len({n_other(model) for model in models.values()}) == 1
    counts = {w: widths.feed_forward_parameters(model) for w, model in models.items()}
    assert counts == {w: 2 * (2 * 64 * w + w + 64) if w else 0 for w in counts}


def test_without_a_network_the_sub_layer_is_silent(task):
    model = widths.new_model(task, 0, seed=0)
    x = torch.randn(1, 3, 64)
    assert not model.encoder.layers[0].feed_forward(x).any()


def test_without_relu_the_same_weights_make_a_linear_map(task):
    bent = widths.new_model(task, 16, seed=0).encoder.layers[0].feed_forward
    flat = widths.new_model(task, 16, seed=0, relu=False).encoder.layers[0].feed_forward
    assert torch.equal(bent.expand.weight, flat.expand.weight)
    x = torch.randn(4, 64)
    middle = flat(x[:1] + x[1:2]) + flat(torch.zeros(1, 64))
    torch.testing.assert_close(middle, flat(x[:1]) + flat(x[1:2]), atol=1e-5, rtol=1e-5)
    assert not torch.allclose(bent(x), flat(x), atol=1e-3)


@pytest.mark.parametrize(("width", "relu"), [(-1, True), (0, False)])
def test_impossible_widths_are_refused(task, width, relu):
    with pytest.raises(ValueError, match=f"width must be at least .*got {width}"):
        widths.new_model(task, width, seed=0, relu=relu)


def test_a_conclusion_is_there_exactly_where_both_features_are():
    words, follows = bends.conclusions()
    assert words.shape == follows.shape == (256, 8 + 28)
    assert not words[:, 8:].any()
    assert not follows[:, :8].any()
    both = words[:, :8].sum(1)
    assert torch.equal(follows.sum(1), both * (both - 1) / 2)


@pytest.mark.parametrize("bend", bends.BENDS)
def test_every_bend_but_one_makes_more_than_a_linear_map(bend):
    torch.manual_seed(0)
    network = bends.new_network(bend, 12, d_model=36)
    x, zero = torch.randn(2, 36), torch.zeros(1, 36)
    with torch.no_grad():
        sums = network(x.sum(0, keepdim=True)) + network(zero)
        parts = network(x[:1]) + network(x[1:])
    assert torch.allclose(sums, parts, atol=1e-4) == (bend == "none")


def test_the_gated_network_has_about_as_many_weights():
    relu, gated = (bends.new_network(b, 30, d_model=36) for b in ("ReLU", "SwiGLU"))
    n_relu, n_gated = (sum(p.numel() for p in n.parameters()) for n in (relu, gated))
    assert n_gated == pytest.approx(n_relu, rel=0.02)


def test_without_a_bend_a_third_is_missed_and_with_one_much_less():
    assert bends.missed("none", 40, seed=1) == pytest.approx(1 / 3, abs=0.01)
    assert bends.missed("ReLU", 112, seed=1) < 0.05
