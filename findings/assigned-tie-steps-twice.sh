#!/usr/bin/env bash
# Loading with assign=True keeps tied weights equal and lets Adam move them twice as far.
#
# Versions: torch 2.13.0, Python 3.11.
# A model whose output matrix *is* its embedding has one parameter. `load_state_dict(..., assign=True)`
# puts in a parameter for each of the two names. If the file was written from the tied model they share
# their memory, so the values stay equal and every test of equality passes; but there are two
# parameters over one memory. Adam divides each gradient by its own size, so it takes a whole step for
# each: with a learning rate of 0.01 a weight moves by 0.02. Plain SGD shows nothing, because the two
# gradients add up to the one of the tied model.
# Guess before the run: either the tie survives, or the two matrices drift apart.
# Seen:
#   assign=False  parameters: 1  one object: True   equal after the step: True  largest move: 0.010
#   assign=True   parameters: 2  one object: False  equal after the step: True  largest move: 0.020
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
import warnings

warnings.simplefilter("ignore")
import torch
from torch import nn


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(10, 4)
        self.output = nn.Linear(4, 10, bias=False)
        self.output.weight = self.embedding.weight

    def forward(self, ids):
        return self.output(self.embedding(ids))


torch.manual_seed(0)
torch.save(Tied().state_dict(), "tied.pt")
found = []
for assign in (False, True):
    model = Tied()
    model.load_state_dict(torch.load("tied.pt"), assign=assign)
    before = model.embedding.weight.detach().clone()
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
    model(torch.tensor([1, 2, 3])).logsumexp(-1).sum().backward()
    optimiser.step()
    parameters = len(list(model.parameters()))
    one = model.embedding.weight is model.output.weight
    equal = torch.equal(model.embedding.weight, model.output.weight)
    move = (model.embedding.weight - before).abs().max().item()
    found.append((parameters, one, equal, round(move, 3)))
    print(
        f"assign={assign!s:<6} parameters: {parameters}  one object: {one!s:<5}  "
        f"equal after the step: {equal!s:<5} largest move: {move:.3f}"
    )
assert found == [(1, True, True, 0.01), (2, False, True, 0.02)], found
PYTHON
