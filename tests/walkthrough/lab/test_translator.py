"""The experiments of chapter 14: what is counted, at which row, and what a broken model is."""

from dataclasses import replace

import pytest
import torch

from transformer.cli.plan import PRESETS
from transformer.config import EOS_ID
from transformer.training import TrainSettings
from walkthrough.lab import translator


@pytest.fixture(scope="module")
def task():
    return translator.load_task(train=1500, valid=20, test=30)


def test_the_phrasebook_recipe_is_the_one_that_the_table_of_differences_states(task):
    training, config = task.plan.training, translator.new_model(task, seed=0).config
    assert (training.schedule, training.warmup, training.peak) == ("linear", 150, 3e-3)
    assert training.rate(training.max_updates, d_model=128) < 1e-5
    assert TrainSettings().schedule == "noam"  # Eq. 3 stays the trainer's default
    assert (config.n_layers, config.d_model, config.d_ff) == (2, 128, 256)


def brief(task):
    """The same task with a recipe of a few small updates."""
    training = task.plan.training.replace(warmup=1, max_tokens=100)
    return replace(task, plan=replace(task.plan, training=training))


def test_sizes_and_recipe_are_the_presets(task):
    preset = PRESETS["phrasebook"]
    config = translator.new_model(task, seed=0).config
    assert config.d_model == preset["model"]["d_model"]
    assert (config.norm, config.tie_embeddings, config.scale_embeddings) == ("post", True, True)
    assert task.plan.training.peak == preset["training"].get("peak")


def test_next_word_accuracy_leaves_padding_out(task, monkeypatch):
    pairs = task.pairs("test_sentences")
    model = translator.new_model(task, seed=0)

    def only_the_end(_source, target):
        logits = torch.zeros(*target.shape, len(task.codec))
        logits[..., EOS_ID] = 1.0
        return logits

    monkeypatch.setattr(model, "forward", only_the_end)
    tokens = sum(len(target) + 1 for _, target in pairs)
    assert translator.next_word_accuracy(model, pairs) == pytest.approx(len(pairs) / tokens)


def test_training_changes_one_thing_and_depends_on_the_seed_alone(task):
    torch.manual_seed(5)
    one, history = translator.train_model(brief(task), seed=3, updates=2, causal=False)
    torch.manual_seed(6)
    other, _ = translator.train_model(brief(task), seed=3, updates=2, causal=False)
    assert torch.equal(one.output_weight, other.output_weight)
    assert history.records[-1].update == 2
    assert one.config.replace(causal=True) == translator.new_model(task, seed=3).config
    whole, _ = translator.train_model(brief(task), seed=3, updates=2)
    assert not torch.equal(one.output_weight, whole.output_weight)


def test_a_configuration_that_does_not_exist_is_refused(task):
    with pytest.raises(TypeError, match="no_such_switch"):
        translator.train_model(task, seed=1, updates=1, no_such_switch=True)
