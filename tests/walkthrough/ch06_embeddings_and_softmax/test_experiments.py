"""The experiment of chapter 06: kinds differ in the matrix and its factor, and in nothing else."""

import pytest

from transformer.model import Transformer
from walkthrough.ch06_embeddings_and_softmax import experiments
from walkthrough.lab import one_layer, translator

TASK = one_layer.load_task(train=300, valid=20, test=10)


@pytest.mark.parametrize("arm", experiments.EXPERIMENT.arms, ids=lambda arm: arm.name)
def test_each_kind_is_what_its_name_says(arm):
    model: Transformer = translator.new_model(TASK, seed=0, **arm.model)
    embeddings = {model.source_embedding.weight, model.target_embedding.weight}
    assert len({*embeddings, model.output_weight}) == (3 if "untied" in arm.name else 1)
    assert (model.source_embedding.scale == 1.0) == ("no factor" in arm.name)
    assert (model.config.d_model, model.config.d_ff, model.config.n_layers) == (64, 256, 1)


def test_only_the_papers_recipe_makes_both_sizes_one():
    both = [
        all(0.9 < size < 1.1 for size in experiments.scales(256, std=std, factor=factor).values())
        for std in (256**-0.5, 1.0)
        for factor in (16.0, 1.0)
    ]
    assert both == [True, False, False, False]
