"""The experiment of chapter 06: kinds differ in the matrix and its factor, and in nothing else."""

from dataclasses import replace

import pytest
import torch

from walkthrough.ch06_embeddings_and_softmax import experiments
from walkthrough.lab import one_layer


@pytest.fixture(scope="module")
def task():
    small = one_layer.load_task(train=300, valid=20, test=10)
    training = small.plan.training.replace(warmup=1, max_tokens=100)
    return replace(small, plan=replace(small.plan, training=training))


def test_the_first_kind_is_the_papers(task):
    config = experiments.new_model(task, next(iter(experiments.KINDS.values())), seed=0).config
    assert config.tie_embeddings
    assert config.scale_embeddings


@pytest.mark.parametrize("kind", experiments.KINDS.values(), ids=lambda kind: kind.name)
def test_each_kind_is_what_its_name_says(task, kind):
    model = experiments.new_model(task, kind, seed=0)
    embeddings = {model.source_embedding.weight, model.target_embedding.weight}
    assert len({*embeddings, model.output_weight}) == (1 if "untied" not in kind.name else 3)
    assert (model.source_embedding.scale == 1.0) == ("no factor" in kind.name)
    expected = 64**-0.5
    for words, std in {"start at 1": 1.0, "start at 1/d": 1 / 64}.items():
        expected = std if kind.name.endswith(words) else expected
    assert all(weight.std().item() == pytest.approx(expected, rel=0.05) for weight in embeddings)
    if not kind.tied:
        assert model.output_weight.std().item() == pytest.approx(64**-0.5, rel=0.05)
    assert (kind.step != 1.0) == ("steps" in kind.name)


@pytest.mark.parametrize("times", [8.0, 1 / 8])
def test_steps_of_the_matrix_alone_are_stretched(task, times):
    plain = experiments.Kind("plain")
    stretched = experiments.Kind("stretched", step=times)
    one, other = (experiments.train_kind(task, k, seed=1, updates=1) for k in (plain, stretched))
    moved, moved_more = (run.model.output_weight - run.start for run in (one, other))
    torch.testing.assert_close(moved_more, times * moved, atol=1e-6, rtol=1e-3)
    for name, weight in one.model.named_parameters():
        same = torch.equal(weight, other.model.get_parameter(name))
        assert same == (weight is not one.model.output_weight), name


def test_only_the_papers_recipe_makes_both_sizes_one():
    both = [
        all(0.9 < size < 1.1 for size in experiments.scales(256, std=std, factor=factor).values())
        for std in (256**-0.5, 1.0)
        for factor in (16.0, 1.0)
    ]
    assert both == [True, False, False, False]


def test_training_moves_the_matrix_and_keeps_its_start(task):
    kind = experiments.KINDS["tied, factor"]
    trained = experiments.train_kind(task, kind, seed=1, updates=15)
    untrained = experiments.new_model(task, kind, seed=1)
    assert torch.equal(trained.start, untrained.output_weight)
    assert not torch.equal(trained.start, trained.model.output_weight)
    assert trained.perplexity < experiments.train_kind(task, kind, seed=1, updates=2).perplexity
