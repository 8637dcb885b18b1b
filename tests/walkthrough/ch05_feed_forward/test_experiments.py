"""The experiment of chapter 05: widths differ in the feed-forward networks and nowhere else."""

from dataclasses import replace

import pytest
import torch

from walkthrough.ch05_feed_forward import experiments
from walkthrough.lab import one_layer


@pytest.fixture(scope="module")
def task():
    small = one_layer.load_task(train=300, valid=20, test=10)
    training = small.plan.training.replace(warmup=1, max_tokens=100)
    return replace(small, plan=replace(small.plan, training=training))


def n_other(model):
    return model.n_parameters - experiments.feed_forward_parameters(model)


def test_only_the_feed_forward_parameters_grow_with_the_width(task):
    models = {w: experiments.new_model(task, w, seed=0) for w in (0, 16, 64)}
    assert len({n_other(model) for model in models.values()}) == 1
    counts = {w: experiments.feed_forward_parameters(model) for w, model in models.items()}
    assert counts == {w: 2 * (2 * 64 * w + w + 64) if w else 0 for w in counts}


def test_without_a_network_the_sub_layer_is_silent(task):
    model = experiments.new_model(task, 0, seed=0)
    x = torch.randn(1, 3, 64)
    assert not model.encoder.layers[0].feed_forward(x).any()


def test_without_relu_the_same_weights_make_a_linear_map(task):
    bent = experiments.new_model(task, 16, seed=0).encoder.layers[0].feed_forward
    flat = experiments.new_model(task, 16, seed=0, relu=False).encoder.layers[0].feed_forward
    assert torch.equal(bent.expand.weight, flat.expand.weight)
    x = torch.randn(4, 64)
    middle = flat(x[:1] + x[1:2]) + flat(torch.zeros(1, 64))
    torch.testing.assert_close(middle, flat(x[:1]) + flat(x[1:2]), atol=1e-5, rtol=1e-5)
    assert not torch.allclose(bent(x), flat(x), atol=1e-3)


@pytest.mark.parametrize(("width", "relu"), [(-1, True), (0, False)])
def test_impossible_widths_are_refused(task, width, relu):
    with pytest.raises(ValueError, match=f"width must be at least .*got {width}"):
        experiments.new_model(task, width, seed=0, relu=relu)


def test_training_lowers_perplexity_and_depends_on_the_seed_alone(task):
    before = experiments.train_width(task, 16, seed=1, updates=2)
    again = experiments.train_width(task, 16, seed=1, updates=2)
    longer = experiments.train_width(task, 16, seed=1, updates=25)
    assert before.perplexity == again.perplexity
    assert longer.perplexity < before.perplexity
    assert 0 <= longer.next_word <= 1
