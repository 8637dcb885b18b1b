#!/usr/bin/env bash
# A model that is told its padding value learns to write padding.
#
# Versions: x-transformers 2.31.10, torch 2.13.0 (CPU), Python 3.11.
# `XTransformer` takes a pad_value, and a mask for the source alone. Padding at the end of a target counts
# in its loss like any word; only ignore_index, -100, is left out of it.
# Guess before the run: pad_value=0 leaves the zeros of a padded target out of the loss.
# Why: pad_value is what stands in for ignore_index in the input, and what `generate` fills with.
# Seen, for one model and two targets, with two more tokens at their ends:
#   without 3.14, with zeros 3.12, with -100 3.14
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet x-transformers==2.31.10 torch==2.13.0
"$folder/venv/bin/python" - <<'PYTHON'
import torch
from x_transformers import XTransformer

torch.manual_seed(0)
side = {"num_tokens": 20, "depth": 1, "heads": 2, "max_seq_len": 16}
sizes = {f"{name}_{key}": value for name in ("enc", "dec") for key, value in side.items()}
model = XTransformer(dim=16, **sizes, pad_value=0).eval()
source, target = torch.randint(1, 20, (2, 6)), torch.randint(1, 20, (2, 5))


def loss(filler):
    tail = torch.full((2, 2), filler) if filler is not None else torch.zeros(2, 0, dtype=torch.long)
    return model(source, torch.cat([target, tail], dim=1)).item()


plain, zeros, ignored = loss(None), loss(0), loss(-100)
print(f"without {plain:.2f}, with zeros {zeros:.2f}, with -100 {ignored:.2f}")
raise SystemExit(abs(plain - ignored) > 1e-4 or abs(plain - zeros) < 0.01)
PYTHON
