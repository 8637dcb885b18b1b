#!/usr/bin/env bash
# Saving the same tensors twice gives two different files.
#
# Versions: safetensors 0.8.0, numpy 2.4.6, Python 3.11.
# A file begins with its names and its metadata. The tensors stand in a fixed order; the entries of the
# metadata stand in the order of a hash table that draws its seed anew at each call. With three entries
# twenty calls in one process, with one dictionary, give all or most of the six orders. So a checksum of the
# file, a cache that goes by it, or a build that is meant to be repeated sees another model each time.
# Guess before the run: equal tensors and equal metadata give equal bytes, at least in one process.
# Seen (numbers of different files in 200 calls):
#   no metadata     1
#   one entry       1
#   three entries   6
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet safetensors==0.8.0 numpy==2.4.6
"$folder/venv/bin/python" - <<'PYTHON'
import numpy as np
from safetensors.numpy import save

tensors = {"a": np.zeros(3, np.float32), "b": np.ones(2, np.float32)}
found = []
for name, notes in (
    ("no metadata  ", None),
    ("one entry    ", {"x": "1"}),
    ("three entries", {"x": "1", "y": "2", "z": "3"}),
):
    found.append(len({save(tensors, notes) for _ in range(200)}))
    print(f"{name}  {found[-1]:2d}")
assert found == [1, 1, 6], "equal calls give other files than they did"
PYTHON
