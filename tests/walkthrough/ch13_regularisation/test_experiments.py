"""The experiment of chapter 13: dropout acts where it is told, and nowhere else."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from walkthrough.ch13_regularisation import experiments
from walkthrough.lab import translator


@pytest.fixture(scope="module")
def task():
    small = experiments.load_task(train=300, valid=20, test=10)
    training = small.plan.training.replace(warmup=1, max_tokens=100)
    return replace(small, plan=replace(small.plan, training=training))


@pytest.fixture
def model(task):
    return translator.new_model(task, seed=0, **experiments.SIZES)


def zeros_by_place(model):
    """The modules with zeros in their output, after one pass in training."""
    found = set()
    names = {module: name for name, module in model.named_modules()}

    def hook(module, given, output):
        if int((output == 0).sum()) > 0.02 * output.numel():
            found.add(names[module])

    hooks = [m.register_forward_hook(hook) for m in model.modules() if isinstance(m, nn.Dropout)]
    model.train()
    model(torch.randint(4, 50, (4, 6)), torch.randint(4, 50, (4, 6)))
    for handle in hooks:
        handle.remove()
    return found


@pytest.mark.parametrize(
    ("places", "n_modules"),
    [
        ((), 0),
        ((experiments.EMBEDDING,), 1),
        ((experiments.SUBLAYERS,), 10),
        (experiments.PAPER, 11),
    ],
)
def test_dropout_acts_at_the_places_named(model, places, n_modules):
    experiments.set_dropout(model, places)
    assert len(zeros_by_place(model)) == n_modules


def test_attention_is_the_third_place(model):
    assert len(experiments.dropout_places(model)[experiments.ATTENTION]) == 6
    experiments.set_dropout(model, [experiments.ATTENTION], 0.5)
    assert model.encoder.layers[0].self_attention.dropout == 0.5
    ids = torch.randint(4, 50, (4, 6))
    assert not torch.equal(model(ids, ids), model(ids, ids))


def test_unknown_places_and_probabilities_are_refused(model):
    with pytest.raises(ValueError, match=r"places must be among .*; got softmax"):
        experiments.set_dropout(model, ["softmax"])
    with pytest.raises(ValueError, match=r"p must lie in \[0, 1\), got 1"):
        experiments.set_dropout(model, [], 1.0)


def test_smoothing_makes_a_model_less_sure(task):
    sharp, smooth = (
        experiments.train_small(task, seed=1, smoothing=eps, places=(), updates=40)
        for eps in (0.0, 0.5)
    )
    scores = [experiments.evaluate(model, task, n_tested=5) for model in (sharp, smooth)]
    assert scores[0].confidence > scores[1].confidence
    assert scores[1].tempered_perplexity <= scores[1].perplexity
    assert all(0 <= one.next_word <= 1 and one.bleu >= 0 for one in scores)


def test_the_curves_hold_what_training_passes_through(task):
    """Measuring on the way must not change the run, and every point is of its own update."""
    model, points = experiments.train_long(task, seed=1, p=0.3, updates=4, every=2)
    other, _ = experiments.train_long(task, seed=1, p=0.3, updates=4, every=4)
    assert torch.equal(model.output_weight, other.output_weight)
    assert [point.update for point in points] == [2, 4]
    assert points[0].unseen != points[1].unseen
    assert all(0 <= point.next_word <= 1 for point in points)
    assert not model.training


def test_the_long_run_is_not_smoothed_and_its_rate_stays(task):
    training = experiments.load_long_task(train=300, valid=20, test=10).plan.training
    assert training.smoothing == 0
    assert training.rate(100, d_model=64) == training.rate(900, d_model=64) == 2e-3


def test_runs_are_found_by_smoothing_and_places():
    runs = [
        {"seed": 1, "smoothing": 0.1, "places": ["a", "b"]},
        {"seed": 1, "smoothing": 0.1, "places": ["a"]},
        {"seed": 2, "smoothing": 0.1, "places": ["b", "a"]},
    ]
    found = experiments.runs_where({"runs": runs}, smoothing=0.1, places=("a", "b"))
    assert [run["seed"] for run in found] == [1, 2]
    with pytest.raises(ValueError, match=r"no run with smoothing 0.3 and dropout at nowhere"):
        experiments.runs_where({"runs": runs}, smoothing=0.3, places=())
