"""The checks of chapter 09 accept what is right and name what is wrong."""

import pytest
import torch
from soundness import assert_check_is_sound

from transformer import Transformer, TransformerConfig
from transformer.layers import DecoderLayer
from transformer.masks import causal_mask
from walkthrough.ch09_encoder_and_decoder import checks
from walkthrough.ch09_encoder_and_decoder.checks.broken import SIGNS
from walkthrough.ch09_encoder_and_decoder.experiments.blocks import record_shapes
from walkthrough.ch09_encoder_and_decoder.experiments.broken import (
    FAULTS,
    OF_FIVE,
    SMALL,
    SOURCE,
    TARGET,
    SmallModel,
    observed,
)

ALL = [checks.shapes, checks.decoder_layer]


@pytest.mark.parametrize("check", ALL, ids=lambda check: check.name)
def test_check_names_every_mistake_it_lists(check):
    assert_check_is_sound(check)


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


def test_shapes_of_tensors_on_the_device_meta_do_not_stop_the_check():
    """Who builds the model without memory hands back its tensors in the place of their shapes."""

    def shapes(*sizes):
        right = checks.shapes.reference(*sizes)
        return {name: torch.empty(shape, device="meta") for name, shape in right.items()}

    verdict = checks.shapes(shapes)
    assert verdict.status == "wrong"
    assert "in `memory`: a tuple is expected, your result is a tensor of shape" in verdict.message


def layer_by_a_loop(z, memory, look_back, look_across, feed, norms):
    parts = (lambda x: look_back(x, x), lambda x: look_across(x, memory), feed)
    for part, norm in zip(parts, norms, strict=True):
        z = z + part(norm(z))
    return z


def test_a_layer_by_a_loop_is_right_and_equals_the_packages():
    assert checks.decoder_layer(layer_by_a_loop)
    torch.manual_seed(0)
    config = TransformerConfig(
        vocab_size=9, d_model=16, n_heads=2, n_layers=1, d_ff=24, dropout=0.0, norm="pre"
    )
    layer = DecoderLayer(config).eval()
    for parameter in layer.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    z, memory = torch.randn(2, 4, 16), torch.randn(2, 6, 16)
    back, inside = causal_mask(4), torch.ones(2, 1, 1, 6, dtype=torch.bool)
    ours = layer_by_a_loop(
        z,
        memory,
        lambda asking, answering: layer.self_attention(asking, answering, answering, back)[0],
        lambda asking, answering: layer.cross_attention(asking, answering, answering, inside)[0],
        layer.feed_forward,
        [residual.layer_norm for residual in layer.residuals],
    )
    assert torch.allclose(ours, layer(z, memory, back, inside)[0], atol=1e-5)


def test_slips_that_nobody_listed_are_told_by_the_parts_that_are_silent():
    """Another sub-layer's norm shows only where norms and that sub-layer say something."""

    def norms_mixed(z, memory, look_back, look_across, feed, norms):
        return layer_by_a_loop(z, memory, look_back, look_across, feed, [*norms[:2], norms[1]])

    said = checks.decoder_layer(norms_mixed).message
    assert "right for “norms that change nothing” and “a feed-forward network that" in said


def test_a_layer_that_writes_into_the_target_is_caught():
    def in_place(z, memory, look_back, look_across, feed, norms):
        z += look_back(norms[0](z), norms[0](z))
        z += look_across(norms[1](z), memory)
        z += feed(norms[2](z))
        return z

    assert checks.decoder_layer(in_place).mistake == "changes its input"


def test_each_fault_is_told_apart_from_every_other():
    for fault in FAULTS:
        seen = observed(SmallModel(fault, seed=3))
        fits = [
            name
            for name, signs in SIGNS.items()
            if all(seen[what] == signs[what] for what in signs)
        ]
        assert fits == [fault]
    healthy = observed(SmallModel(seed=3))
    assert all(any(healthy[what] != signs[what] for what in signs) for signs in SIGNS.values())


def test_a_model_without_a_fault_is_the_packages():
    model = SmallModel(seed=0)
    whole = Transformer(SMALL).eval()
    for ours, theirs in ((model.encoder, whole.encoder), (model.decoder, whole.decoder)):
        theirs.load_state_dict(ours.state_dict())
    whole.source_embedding.load_state_dict(model.embedding.state_dict())
    with torch.no_grad():
        assert torch.allclose(model(SOURCE, TARGET), whole(SOURCE, TARGET), atol=1e-5)


def test_faults_are_judged_by_experiments():
    assert checks.faults(OF_FIVE)
    assert checks.faults({name: word.upper() for name, word in OF_FIVE.items()})
    assert checks.faults(None).status == "nothing yet"
    assert checks.faults(dict.fromkeys("ABCDE")).status == "nothing yet"
    assert "right so far: B" in checks.faults({"B": "last layer"}).message
    for name in OF_FIVE:
        for fault in FAULTS:
            if fault != OF_FIVE[name]:
                verdict = checks.faults({**OF_FIVE, name: fault})
                assert verdict.status == "wrong"
                assert verdict.message.startswith(f"{name}: with that fault, ")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("padding", "a dictionary"),
        ({"F": "deaf"}, "there is no model 'F'"),
        ({"A": 2}, "in quotes"),
        ({"A": "masks"}, "is not on the list"),
    ],
)
def test_answers_that_are_no_faults_are_told_what_is_expected(answer, said):
    assert said in checks.faults(answer).message
