#!/usr/bin/env bash
# Quantised to int8, a tied output layer is stored small and multiplied in float.
#
# Versions: onnx 1.23.2, onnxruntime 1.31.1, numpy 2.4.6, Python 3.11.
# `quantize_dynamic` turns a product with a stored matrix into an integer product (MatMulInteger). In a
# model whose output matrix is its embedding, turned round by a Transpose node, it stores the table as
# int8, too, so the file shrinks as expected; but the product stays a float MatMul, and at each call the
# whole vocabulary is turned back into floats first. The largest product of a small translator is the one
# that gains nothing. With a matrix of its own for the output the same call makes an integer product.
# Guess before the run: both are integer products, for the weights are the same numbers.
# Seen (float bytes → int8 bytes):
#   a matrix of its own  1024189 → 256780  Cast Gather MatMulInteger Mul
#   tied by a Transpose   512209 → 128604  DequantizeLinear Gather MatMul Transpose
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet onnx==1.23.2 onnxruntime==1.31.1 numpy==2.4.6
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON' 2>/dev/null
import os

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

table = np.random.default_rng(0).normal(size=(2000, 64)).astype(np.float32)


def model(tied):
    stored = [numpy_helper.from_array(table, "table")]
    nodes = [helper.make_node("Gather", ["table", "ids"], ["x"])]
    if tied:
        nodes.append(helper.make_node("Transpose", ["table"], ["output"], perm=[1, 0]))
    else:
        stored.append(numpy_helper.from_array(np.ascontiguousarray(table.T), "output"))
    nodes.append(helper.make_node("MatMul", ["x", "output"], ["logits"]))
    graph = helper.make_graph(
        nodes,
        "embedding and output",
        [helper.make_tensor_value_info("ids", TensorProto.INT64, ["words"])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["words", 2000])],
        stored,
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])
    made.ir_version = 10
    return made


products = {}
for name, tied in (("a matrix of its own", False), ("tied by a Transpose", True)):
    onnx.save(model(tied), "float.onnx")
    quantize_dynamic("float.onnx", "int8.onnx", weight_type=QuantType.QInt8)
    kinds = sorted({node.op_type for node in onnx.load("int8.onnx").graph.node})
    before, after = os.path.getsize("float.onnx"), os.path.getsize("int8.onnx")
    print(f"{name} {before:8d} → {after}  {' '.join(kinds)}")
    products[tied] = "MatMulInteger" in kinds
    assert after < 0.3 * before
assert products == {False: True, True: False}, products
PYTHON
