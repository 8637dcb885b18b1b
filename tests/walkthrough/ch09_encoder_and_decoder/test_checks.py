"""The checks of chapter 09 accept what is right and name what is wrong."""

import pytest
import torch

from transformer import Transformer, TransformerConfig
from walkthrough.ch09_encoder_and_decoder import checks
from walkthrough.ch09_encoder_and_decoder.experiments.blocks import record_shapes
from walkthrough.checking.soundness import assert_check_is_sound

ALL = [checks.shapes, checks.run_stacks, checks.n_parameters, checks.vocabulary]


@pytest.mark.parametrize("check", ALL, ids=lambda check: check.name)
def test_check_names_every_mistake_it_lists(check):
    assert_check_is_sound(check)
    assert len(check.mistakes) >= 3


def test_the_expected_shapes_are_those_of_a_real_run():
    config = TransformerConfig(
        vocab_size=50, d_model=16, n_heads=2, n_layers=1, d_ff=24, max_len=20
    )
    seen = record_shapes(
        Transformer(config).eval(),
        torch.full((3, 4), 5),
        torch.full((3, 9), 5),
    )

    def shapes(*sizes):
        return {
            "memory": seen["encoder-feed-forward-norm"]["out"],
            "encoder_weights": seen["encoder-attention"]["weights"],
            "decoder_weights": seen["decoder-attention"]["weights"],
            "cross_weights": seen["cross-attention"]["weights"],
            "decoder_hidden": seen["decoder-feed-forward"]["hidden"],
            "logits": seen["projection"]["logits"],
        }

    sizes = checks.shapes.arguments()[1].positional
    assert shapes() == checks.shapes.reference(*sizes)


def test_shapes_as_lists_are_right():
    def shapes(b, s, t, v, d, h, f):
        return {
            "memory": [b, s, d],
            "encoder_weights": [b, h, s, s],
            "decoder_weights": [b, h, t, t],
            "cross_weights": [b, h, t, s],
            "decoder_hidden": [b, t, f],
            "logits": [b, t, v],
        }

    assert checks.shapes(shapes)


def test_stacks_run_with_indices_are_right():
    def run(source_x, target_x, encoder_layers, decoder_layers, source_mask, target_mask):
        for i in range(len(encoder_layers)):
            source_x = encoder_layers[i](source_x, source_mask)
        for i in range(len(decoder_layers)):
            target_x = decoder_layers[i](target_x, source_x, target_mask, source_mask)
        return target_x

    assert checks.run_stacks(run)


def test_the_whole_model_counted_by_building_it_is_right():
    def count(vocab_size, d_model, d_ff, n_layers):
        with torch.device("meta"):
            config = TransformerConfig(
                vocab_size=vocab_size, d_model=d_model, d_ff=d_ff, n_layers=n_layers
            )
            return Transformer(config).n_parameters

    assert checks.n_parameters(count)


def test_a_vocabulary_is_a_whole_number():
    assert checks.vocabulary(40745)
    for answer in (40744, 40746, 40747, 40745.125):
        assert checks.vocabulary(answer).status == "wrong"


def test_another_vocabulary_is_told_its_side():
    assert "too large" in checks.vocabulary(50_000).message
