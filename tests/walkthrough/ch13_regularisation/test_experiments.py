"""The experiment of chapter 13: dropout acts where it is told, and nowhere else."""

import pytest
import torch
from torch import nn

from walkthrough.ch13_regularisation import experiments
from walkthrough.ch13_regularisation.overfitting import overfitted
from walkthrough.lab import Key, translator
from walkthrough.lab.runner import execute


@pytest.fixture(scope="module")
def task():
    return experiments.SMOOTHING.task.load(small=True)


@pytest.fixture
def model(task):
    return translator.new_model(task, seed=0)


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


def test_smoothing_makes_a_model_less_sure():
    keys = (Key(arm, 1.0, 40, 1) for arm in ("ε = 0.0", "ε = 0.1"))
    sharp, smooth = (execute(experiments.SMOOTHING, key, small=True)[1].figures for key in keys)
    assert sharp["valid/-/confidence"] > smooth["valid/-/confidence"]
    assert smooth["valid/-/tempered_perplexity"] <= smooth["valid/-/perplexity"]
    assert set(smooth) == set(experiments.FIGURES)


def test_the_curves_hold_what_training_passes_through(monkeypatch):
    """Measuring on the way must not change the run, and every point is of its own update."""
    key, found = Key("p = 0.1", 1.0, 4, 1), []
    for every in (2, 4):
        monkeypatch.setattr(experiments, "EVERY", every)
        found.append(execute(experiments.DROPOUT, key, small=True)[1])
    often, once = found
    assert often.figures == once.figures
    unseen = [(update, y) for update, name, y in often.curve if name == "valid/-/perplexity"]
    assert [update for update, _ in unseen] == [2, 4]
    assert unseen[0][1] != unseen[1][1] == often.figures["valid/-/perplexity"]


def test_few_pairs_are_learned_and_new_ones_are_left_behind():
    learned, new = overfitted(60, small=True).values()
    assert [update for update, _ in learned] == [update for update, _ in new] == [20, 40, 60]
    assert learned[-1][1] < learned[0][1] / 2
    assert all(one < other for (_, one), (_, other) in zip(learned[1:], new[1:], strict=True))


def test_the_long_run_is_not_smoothed_and_its_rate_stays():
    training = experiments.DROPOUT.task.load(small=True).plan.training
    assert training.smoothing == 0
    assert training.rate(100, d_model=64) == training.rate(900, d_model=64) == 2e-3
