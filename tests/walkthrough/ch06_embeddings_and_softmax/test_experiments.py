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
    ends = {model.source_embedding.weight, model.target_embedding.weight, model.output_weight}
    assert len(ends) == (1 if "untied" not in kind.name else 3)
    assert (model.source_embedding.scale == 1.0) == ("no factor" in kind.name)
    expected = 1.0 if "start at 1" in kind.name else 64**-0.5
    assert all(weight.std().item() == pytest.approx(expected, rel=0.05) for weight in ends)


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
