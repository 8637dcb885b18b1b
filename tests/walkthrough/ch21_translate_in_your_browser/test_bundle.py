"""What travels to the browser is small, whole, and the same each time."""

import base64
import gzip
import re

import numpy as np
import onnx
import onnxruntime
import torch

from walkthrough.ch21_translate_in_your_browser import bundle
from walkthrough.ch21_translate_in_your_browser.translator import (
    french_words,
    load_translator,
    words_by_kind,
)


def matrix_graph(matrix: np.ndarray, bias: np.ndarray) -> bytes:
    node = onnx.helper.make_node("MatMul", ["x", "matrix"], ["xm"])
    add = onnx.helper.make_node("Add", ["xm", "bias"], ["y"])
    value = onnx.helper.make_tensor_value_info
    tensors = [
        onnx.numpy_helper.from_array(array, name)
        for name, array in (("matrix", matrix), ("bias", bias))
    ]
    x, y = (
        value(name, onnx.TensorProto.FLOAT, ["n", matrix.shape[i]])
        for i, name in ((0, "x"), (1, "y"))
    )
    graph = onnx.helper.make_graph([node, add], "g", [x], [y], tensors)
    opsets = [onnx.helper.make_opsetid("", 18)]
    return onnx.helper.make_model(graph, opset_imports=opsets, ir_version=9).SerializeToString()


def test_a_matrix_of_two_graphs_is_stored_once_and_the_graphs_still_compute(tmp_path):
    generator = np.random.default_rng(0)
    matrix = generator.normal(size=(16, 8)).astype(np.float16).astype(np.float32)
    exact = generator.normal(size=(128, 8)).astype(np.float32)  # 16 bits do not hold it
    bias = np.ones(8, np.float32)
    graphs = {"one": matrix_graph(matrix, bias), "two": matrix_graph(matrix, bias + 1)}
    light, weights = bundle.share_weights(graphs | {"three": matrix_graph(exact, bias)})
    assert weights.size == matrix.size
    (tmp_path / bundle.WEIGHTS_FILE).write_bytes(bundle.widened(weights))
    x = generator.normal(size=(3, 16)).astype(np.float32)
    for name, more in (("one", 1), ("two", 2)):
        path = tmp_path / f"{name}.onnx"
        path.write_bytes(light[name])
        (y,) = onnxruntime.InferenceSession(path).run(None, {"x": x})
        np.testing.assert_allclose(y, x @ matrix + more, rtol=1e-5)
    assert len(light["one"]) < 700
    assert exact.tobytes() in light["three"]


def test_scripts_hold_the_bytes_in_parts_that_fit_together():
    content = np.random.default_rng(1).bytes(1_000_000)
    made = bundle.scripts("weights", content)
    assert made == bundle.scripts("weights", content)
    assert len(made) > 1
    pattern = re.compile(r'live\.receive\("weights", (\d+), (\d+), "([A-Za-z0-9+/=]*)"\);\n')
    found = [pattern.fullmatch(text).groups() for text in made.values()]
    assert [(int(i), int(n)) for i, n, _ in found] == [(i, len(made)) for i in range(len(made))]
    assert gzip.decompress(base64.b64decode("".join(part for *_, part in found))) == content


def test_words_that_the_model_only_writes_are_not_french():
    _, codec = load_translator()
    french = french_words(codec)
    assert {"Jane", "visite", "l'", "Afrique"} <= set(french)
    assert not {"the", "visits", "Africa", "<s>"} & set(french)


def test_every_word_has_a_kind():
    _, codec = load_translator()
    kinds = words_by_kind(codec)
    assert {word for words in kinds.values() for word in words} == set(french_words(codec))
    assert {"le", "ne", "qu'"} <= set(kinds["small words"])
    assert "long" in kinds["adjectives"]
    assert [k for k, words in kinds.items() if "voyage" in words][1:] == ["verbs"]


def test_the_weights_that_ship_fit_into_sixteen_bits():
    model, _ = load_translator()
    for name, weights in model.named_parameters():
        assert torch.equal(weights, weights.half().float()), name
        assert weights.dtype == torch.float32, name
