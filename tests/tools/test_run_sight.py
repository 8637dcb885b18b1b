"""What a model sees of its source is measured on its own sentences and on those of others."""

import pytest
import run_sight
import torch

from transformer.config import TransformerConfig
from transformer.model import Transformer


def model():
    torch.manual_seed(0)
    return Transformer(TransformerConfig.tiny(vocab_size=20)).eval()


def test_places_of_a_sentence_are_alike_when_the_encoder_makes_them_so():
    one = model()
    before = run_sight.alike(one, [5, 6, 7, 8])
    last = one.encoder.layers[-1].residuals[-1].layer_norm
    last.weight.data.zero_()
    last.bias.data.normal_()
    assert before < 0.9
    assert run_sight.alike(one, [5, 6, 7, 8]) == pytest.approx(1, abs=1e-5)
