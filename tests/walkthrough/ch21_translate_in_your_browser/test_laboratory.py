"""Each switch of the laboratory's graphs does what it says, and nothing when it is at rest."""

import jaxtyping
import numpy as np
import onnxruntime
import pytest
import torch

from transformer.config import TransformerConfig
from transformer.model import Transformer
from walkthrough.ch21_translate_in_your_browser import laboratory

TOLERANCE = 1e-4
SOURCE, TARGET = torch.tensor([[5, 6, 7, 8, 2]]), torch.tensor([[1, 9, 4, 6]])
SIZES = TransformerConfig.tiny(vocab_size=23).replace(d_model=16, d_ff=24, n_heads=2, max_len=64)


def small_model(**changes) -> Transformer:
    torch.manual_seed(0)
    model = Transformer(SIZES.replace(**changes)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    return model


@pytest.fixture(scope="module")
def graphs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("laboratory")
    jaxtyping.config.update("jaxtyping_disable", True)  # the exporter's sizes are no ints
    try:
        paths = laboratory.export_laboratory(small_model(), folder, max_positions=32)
    finally:
        jaxtyping.config.update("jaxtyping_disable", False)
    return [onnxruntime.InferenceSession(path) for path in paths]


def run(graphs, **changes):
    """The graphs' logits and three kinds of products q·k, with some switches thrown."""
    switches = {name: t.numpy() for name, t in laboratory.switches_at_rest(small_model()).items()}
    switches |= {name: np.asarray(value, np.float32) for name, value in changes.items()}
    encoder, decoder = graphs
    memory, encoder_products = encoder.run(None, taken(encoder, switches, source=SOURCE.numpy()))
    given = taken(decoder, switches, memory=memory, target=TARGET.numpy())
    return (*decoder.run(None, given), encoder_products)


def weights(products, kind, changes):
    """What the page makes of the products: scaled, masked, through the softmax."""
    scores = torch.from_numpy(products) * changes.get("score_scale", 1.0) / 8**0.5
    if kind == "decoder" and changes.get("causal", 1.0):
        later = torch.ones(scores.shape[-2:]).triu(1).bool()
        scores = scores.masked_fill(later, float("-inf"))
    return scores.softmax(-1)


def taken(session, switches, **more):
    """What the graph has inputs for: all of them must be there."""
    names = {one.name for one in session.get_inputs()}
    return {name: value for name, value in {**switches, **more}.items() if name in names}


@pytest.mark.parametrize(
    ("changes", "configuration"),
    [
        ({}, {}),
        ({"positions": 0.0}, {"positions": "none"}),
        ({"causal": 0.0}, {"causal": False}),
        ({"score_scale": 8**0.5}, {"scale_scores": False}),
    ],
    ids=["at rest", "no positions", "no mask", "no scale"],
)
def test_a_switch_gives_the_model_that_the_configuration_breaks(graphs, changes, configuration):
    model = small_model()
    broken = Transformer(model.config.replace(**configuration)).eval()
    broken.load_state_dict(model.state_dict())
    logits, decoder, cross, encoder = run(graphs, **changes)
    maps = broken.attention(SOURCE, TARGET)
    with torch.no_grad():
        np.testing.assert_allclose(logits, broken(SOURCE, TARGET)[:, -1], atol=TOLERANCE)
    for kind, products in (("encoder", encoder), ("decoder", decoder), ("cross", cross)):
        found = weights(products, kind, changes)
        np.testing.assert_allclose(found, getattr(maps, kind), atol=TOLERANCE)
    if changes:
        assert np.abs(logits - run(graphs)[0]).max() > 0.01, "a switch that changes nothing"


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_a_head_that_is_off_is_a_head_whose_slice_of_the_output_matrix_is_zero(graphs, kind):
    gains = np.ones((2, 2), np.float32)
    gains[1, 0] = 0
    model = small_model()
    stack = model.encoder if kind == "encoder" else model.decoder
    attention = stack.layers[1].cross_attention if kind == "cross" else None
    attention = attention or stack.layers[1].self_attention
    with torch.no_grad():
        attention.output_proj.weight[:, :8] = 0
        wanted = model(SOURCE, TARGET)[:, -1]
    logits = run(graphs, **{f"{kind}_heads": gains})[0]
    np.testing.assert_allclose(logits, wanted, atol=TOLERANCE)
    assert np.abs(logits - run(graphs)[0]).max() > 0.01


def test_a_model_of_other_parts_is_refused(tmp_path):
    with pytest.raises(ValueError, match="post-norm and sinusoidal"):
        laboratory.export_laboratory(small_model(norm="pre"), tmp_path, max_positions=32)
