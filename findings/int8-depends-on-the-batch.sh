#!/usr/bin/env bash
# After dynamic int8 quantisation a row's result depends on the other rows of its batch.
#
# Versions: onnx 1.23.2, onnxruntime 1.31.1, numpy 2.4.6, Python 3.11.
# `quantize_dynamic` keeps weights as int8 and measures the inputs while it runs. It measures one range
# for the whole tensor, all rows of the batch together. A row alone is off by a fortieth of the spread
# of the outputs; beside a row that is fifty times as large the same row is off by more than half of it.
# So sentences that are translated together change one another's numbers, and sorting or padding a
# batch otherwise can change a translation, which the float model never does.
# Guess before the run: the range is measured row by row, as engines for translation do.
# Seen:
#   spread of the outputs            8.34
#   largest error of the row alone   0.22
#   beside a row 50 times as large   4.92
#   the float model, both ways       0.00
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet onnx==1.23.2 onnxruntime==1.31.1 numpy==2.4.6
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON' 2>/dev/null
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

random = np.random.default_rng(0)
weight = random.normal(size=(64, 64)).astype(np.float32)
row = random.normal(size=(1, 64)).astype(np.float32)
graph = helper.make_graph(
    [helper.make_node("MatMul", ["x", "weight"], ["y"])],
    "one product",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["rows", 64])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["rows", 64])],
    [numpy_helper.from_array(weight, "weight")],
)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])
model.ir_version = 10
onnx.save(model, "float.onnx")
quantize_dynamic("float.onnx", "int8.onnx", weight_type=QuantType.QInt8)


def first_row(name, batch):
    return onnxruntime.InferenceSession(name).run(None, {"x": batch})[0][0]


exact = (row @ weight)[0]
together = np.concatenate([row, 50 * row])
alone, beside = (abs(first_row("int8.onnx", batch) - exact).max() for batch in (row, together))
floats = abs(first_row("float.onnx", together) - first_row("float.onnx", row)).max()
print(f"spread of the outputs            {exact.std():.2f}")
print(f"largest error of the row alone   {alone:.2f}")
print(f"beside a row 50 times as large   {beside:.2f}")
print(f"the float model, both ways       {floats:.2f}")
assert alone < 0.05 * exact.std() and beside > 10 * alone and floats < 1e-4
PYTHON
