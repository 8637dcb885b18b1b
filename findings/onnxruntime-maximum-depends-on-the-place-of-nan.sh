#!/usr/bin/env bash
# Whether the largest of a row with one NaN is NaN depends on where the NaN stands.
#
# Versions: onnx 1.23.2, onnxruntime 1.31.1 (CPU), numpy 2.4.6, Python 3.11.
# numpy and PyTorch say that the largest of (1, nan, 3, 2) is nan, and ArgMax is its place. In ONNX Runtime
# ReduceMax gives nan if it stands first, and 3 elsewhere. ArgMax says the same of the rows of a batch, and
# what numpy says of a row alone. TopK of two gives (1, nan) for that row: the 3 is lost. So a model whose
# numbers have broken goes on choosing words as if nothing had happened, another one by each way, and who
# looks for nan behind the maximum sees none.
# Guess before the run: nan wins everywhere, as in numpy, whose results the operators' tests are made with.
# Why: they compare with <, which is false for nan, so what is held first stays.
# Seen:
#   row          numpy    ReduceMax  ArgMax of a row, in a batch  TopK of 2
#   nan 1 3 2    nan, 0   nan        0, 0                         nan 3
#   1 nan 3 2    nan, 1   3          1, 2                         1 nan
#   1 2 3 nan    nan, 3   3          3, 2                         3 2
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet onnx==1.23.2 onnxruntime==1.31.1 numpy==2.4.6
"$folder/venv/bin/python" - <<'PYTHON'
import numpy as np
import onnxruntime
from onnx import TensorProto, helper


def run(operator, row, *parameters, outputs=1, **attributes):
    """Return the first output of a graph of one operator."""
    constants = [
        helper.make_tensor(f"p{n}", TensorProto.INT64, [1], [p]) for n, p in enumerate(parameters)
    ]
    names = [f"y{n}" for n in range(outputs)]
    node = helper.make_node(operator, ["x", *(c.name for c in constants)], names, **attributes)
    graph = helper.make_graph(
        [node],
        "one",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, row.shape)],
        [helper.make_empty_tensor_value_info(name) for name in names],
        constants,
    )
    opset = [helper.make_opsetid("", 20)]
    content = helper.make_model(graph, opset_imports=opset, ir_version=10).SerializeToString()
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    return session.run(None, {"x": row})[0]


found = []
for numbers in ([np.nan, 1, 3, 2], [1, np.nan, 3, 2], [1, 2, 3, np.nan]):
    row = np.array(numbers, np.float32)
    (greatest,) = run("ReduceMax", row[None], 1, keepdims=0)
    alone = run("ArgMax", row, axis=0, keepdims=0)
    (within,) = run("ArgMax", row[None], axis=1, keepdims=0)
    (two,) = run("TopK", row[None], 2, outputs=2)
    told = " ".join(f"{number:g}" for number in row)
    best = " ".join(f"{number:g}" for number in two)
    print(f"{told}   {row.max():g}, {row.argmax()}   {greatest:g}   {alone}, {within}   {best}")
    found.append((f"{greatest:g}", int(alone), int(within), best))
assert found == [("nan", 0, 0, "nan 3"), ("3", 1, 2, "1 nan"), ("3", 3, 2, "3 2")], found
PYTHON
