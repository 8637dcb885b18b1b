"""Silence in a decoder layer: what falls silent, what comes back, what has never been there."""

import pytest
import torch

from transformer import Transformer, TransformerConfig
from walkthrough.ch09_encoder_and_decoder.experiments import silent

SIZES = TransformerConfig(vocab_size=20, d_model=16, n_heads=2, n_layers=2, d_ff=24, dropout=0.0)
SOURCE, OTHER, TARGET = (torch.tensor([ids]) for ids in ([5, 6, 7], [8, 9, 6], [1, 10, 11]))


@pytest.fixture
def model():
    torch.manual_seed(0)
    return Transformer(SIZES).eval().requires_grad_(False)


def hears(model):
    return not torch.equal(model(SOURCE, TARGET), model(OTHER, TARGET))


@pytest.mark.parametrize("layers", [(), (0,), (1,)])
def test_one_layer_that_looks_lets_the_source_in(model, layers):
    with silent.silenced(model, layers):
        assert hears(model)


def test_silence_in_all_layers_makes_every_source_alike_and_ends_with_the_block(model):
    before = model(SOURCE, TARGET)
    with silent.silenced(model, (0, 1)):
        assert not hears(model)
    assert torch.equal(model(SOURCE, TARGET), before)


def test_a_decoder_that_never_looked_has_no_parameters_for_it():
    task = silent.EXPERIMENT.task.load(small=True)
    arm = silent.EXPERIMENT.arm("never there")
    built = silent.without(silent.Job(silent.EXPERIMENT, arm, silent.Key(arm.name, seed=1), task))
    assert not any("cross_attention" in name for name, _ in built.named_parameters())
    assert not hears(built.eval())
