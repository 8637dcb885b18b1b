"""The experiment of chapter 13: dropout acts where it is told, and nowhere else."""

import pytest
import torch
from torch import nn

from walkthrough.ch13_regularisation import experiments
from walkthrough.lab import Job, Key, translator
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


def test_smoothing_makes_a_model_less_sure():
    keys = (Key(arm, 1.0, 40, 1) for arm in ("ε = 0.0", "ε = 0.2"))
    sharp, smooth = (execute(experiments.SMOOTHING, key, small=True)[1].figures for key in keys)
    assert sharp["valid/-/confidence"] > smooth["valid/-/confidence"]
    assert smooth["valid/-/tempered_perplexity"] <= smooth["valid/-/perplexity"]
    assert set(smooth) == set(experiments.FIGURES)


def test_the_curves_hold_what_training_passes_through(monkeypatch):
    """Measuring on the way must not change the run, and every point is of its own update."""
    key, found = Key("p = 0.3", 1.0, 4, 1), []
    for every in (2, 4):
        monkeypatch.setattr(experiments, "EVERY", every)
        found.append(execute(experiments.DROPOUT, key, small=True)[1])
    often, once = found
    assert often.figures == once.figures
    unseen = [(update, y) for update, name, y in often.curve if name == "valid/-/perplexity"]
    assert [update for update, _ in unseen] == [2, 4]
    assert unseen[0][1] != unseen[1][1] == often.figures["valid/-/perplexity"]


def test_the_long_run_is_not_smoothed_and_its_rate_stays():
    training = experiments.DROPOUT.task.load(small=True).plan.training
    assert training.smoothing == 0
    assert training.rate(100, d_model=64) == training.rate(900, d_model=64) == 2e-3


@pytest.mark.parametrize(
    ("arm", "n_modules"), [("ε = 0.1", 11), ("sub-layers only", 10), ("embedding only", 1)]
)
def test_arms_drop_out_where_their_names_say(task, arm, n_modules):
    build = experiments.SMOOTHING.arm(arm).build
    job = Job(experiments.SMOOTHING, experiments.SMOOTHING.arm(arm), Key(arm), task)
    model = build(job) if build else translator.new_model(task, seed=0)
    assert len(zeros_by_place(model)) == n_modules
