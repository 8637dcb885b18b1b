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


def test_a_conclusion_is_there_exactly_where_both_features_are():
    words, follows = experiments.conclusions()
    assert words.shape == follows.shape == (256, 8 + 28)
    assert not words[:, 8:].any()
    assert not follows[:, :8].any()
    both = words[:, :8].sum(1)
    assert torch.equal(follows.sum(1), both * (both - 1) / 2)


@pytest.mark.parametrize("bend", experiments.BENDS)
def test_every_bend_but_one_makes_more_than_a_linear_map(bend):
    torch.manual_seed(0)
    network = experiments.new_network(bend, 12, d_model=36)
    x, zero = torch.randn(2, 36), torch.zeros(1, 36)
    with torch.no_grad():
        sums = network(x.sum(0, keepdim=True)) + network(zero)
        parts = network(x[:1]) + network(x[1:])
    assert torch.allclose(sums, parts, atol=1e-4) == (bend == "none")


def test_the_gated_network_has_about_as_many_weights():
    relu, gated = (experiments.new_network(b, 30, d_model=36) for b in ("ReLU", "SwiGLU"))
    n_relu, n_gated = (sum(p.numel() for p in n.parameters()) for n in (relu, gated))
    assert n_gated == pytest.approx(n_relu, rel=0.02)


def test_without_a_bend_a_third_is_missed_and_with_one_much_less():
    assert experiments.missed("none", 40, seed=1) == pytest.approx(1 / 3, abs=0.01)
    assert experiments.missed("ReLU", 112, seed=1) < 0.05


def test_units_of_the_encoder_are_counted_by_word(task):
    model = experiments.new_model(task, 16, seed=0)
    pairs = task.pairs("valid")
    units = experiments.encoder_units(model, pairs)
    n_tokens = sum(len(source) for source, _ in pairs)
    assert units.hidden.shape[1] == 16
    assert len(units.words) == len(units.hidden) >= n_tokens
    assert ((units.awake > 0) & (units.awake < 1)).any()
    word = int(units.words[0])
    mean = units.hidden[units.words == word].mean(0)
    torch.testing.assert_close(units.means(600)[word], mean)
    assert int(units.counts(600).sum()) == len(units.words)


def test_what_a_word_alone_explains_lies_between_nothing_and_all():
    words = torch.tensor([5, 5, 7, 7])
    by_word, by_place = torch.tensor([1.0, 1.0, 3.0, 3.0]), torch.tensor([1.0, 3.0, 1.0, 3.0])
    units = experiments.Units(torch.stack([by_word, by_place], dim=1), words)
    torch.testing.assert_close(units.explained_by_word(), torch.tensor([1.0, 0.0]))
