"""The graphs that ship compute what a model computes whose weights are put into them.

Where the model has been changed: `python -m tools.book.weights graphs` makes them again.
"""

import json

import numpy as np
import onnxruntime
import pytest
import torch

from transformer.config import BOS_ID
from transformer.export import empty_past
from transformer.model import Transformer
from walkthrough.ch21_translate_in_your_browser import bundle, graphs
from walkthrough.ch21_translate_in_your_browser.laboratory import (
    LaboratoryDecoder,
    LaboratoryEncoder,
    switches_at_rest,
)
from walkthrough.ch21_translate_in_your_browser.translator import load_translator, source_ids

TEXTS = ("Jane visite l'Afrique en septembre.", "Paul rend le voyage plus difficile.")


@pytest.fixture(scope="module")
def other():
    """Another model of the page's sizes, its weights rounded as the panel holds them."""
    config = load_translator()[0].config
    torch.manual_seed(5)
    model = Transformer(config).eval()
    for parameter in model.parameters():
        noise = 0.05 * torch.randn(parameter.shape)
        parameter.data = (parameter.data + noise).half().float()
    return model


@pytest.fixture
def run(other, tmp_path, monkeypatch):
    """A function that runs one of its graphs."""
    monkeypatch.setattr(bundle, "export_graphs", None)  # nothing is traced
    contents = graphs.model_contents(other, load_translator()[1])
    halves = np.frombuffer(contents["weights.f16"], "<f2")
    (tmp_path / bundle.WEIGHTS_FILE).write_bytes(bundle.widened(halves))

    def named(name, **inputs):
        path = tmp_path / f"{name}.onnx"
        path.write_bytes(contents[path.name])
        given = {key: value.numpy() for key, value in inputs.items()}
        return [torch.from_numpy(x) for x in onnxruntime.InferenceSession(path).run(None, given)]

    return named


def close(found, wanted):
    torch.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-5)


@torch.no_grad()
@pytest.mark.parametrize("text", TEXTS)
def test_a_models_weights_in_the_shipped_graphs_give_its_numbers(run, other, text):
    codec = load_translator()[1]
    source, target = source_ids(codec, text), torch.tensor([[BOS_ID, 20, 30, 40]])
    maps = other.attention(source, target)
    memory, weights = run("encoder", source=source)
    close(memory, other.encode(source))
    close(weights[:, 0], maps.encoder[:, 0])
    keys, values = empty_past(other.config, batch=1)
    for row, logits in enumerate(other(source, target)[0]):
        token = target[:, row : row + 1]
        names = {"source": source, "memory": memory, "token": token}
        found, keys, values, _, cross = run(
            "decoder-step", **names, past_keys=keys, past_values=values
        )
        close(found[0], logits)
        close(cross[:, 0, :, 0], maps.cross[:, 0, :, row])
    rest = switches_at_rest(other) | {"score_scale": torch.tensor(0.5), "causal": torch.tensor(0.0)}
    for kind, name, first in (
        (LaboratoryEncoder, "laboratory-encoder", {"source": source}),
        (LaboratoryDecoder, "laboratory-decoder", {"memory": memory, "target": target}),
    ):
        wanted = kind(other, bundle.MAX_POSITIONS)
        taken = [key for key in wanted.forward.__annotations__ if key in rest]
        inputs = first | {key: rest[key] for key in taken}
        for one, reference in zip(run(name, **inputs), wanted(**inputs), strict=True):
            close(one, reference)


def test_words_and_sizes_go_with_them(other):
    codec = load_translator()[1]
    contents = graphs.model_contents(other, codec)
    assert json.loads(contents["words.json"]) == bundle.words(codec, other)
    assert len(contents["weights.f16"]) == 2 * other.n_parameters


def test_a_model_of_other_sizes_is_refused():
    model, codec = load_translator()
    for change, said in (
        (
            {"d_model": 64},
            r"output_weight of \[514, 128\]; this model has output_weight of \[514, 64\]",
        ),
        ({"n_layers": 3}, "85 tensors; this model has 127 tensors"),
    ):
        other = Transformer(model.config.replace(**change, d_k=None, d_v=None))
        with pytest.raises(ValueError, match=f"panel's graphs are made for {said}"):
            graphs.model_contents(other, codec)
