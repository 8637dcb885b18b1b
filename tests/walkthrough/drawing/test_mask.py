"""A mask is drawn with True as open."""

import torch
from chart_specs import all_rows, spec

from walkthrough.drawing import mask


def test_mask_viewer_draws_true_as_open():
    allowed = torch.tensor([[True, False], [True, True]])
    chart = mask.mask_viewer(allowed, ["a", "b"], ["a", "b"])
    states = {(row["query"], row["key"]): row["state"] for row in all_rows(chart)}
    assert states[("a", "b")] == mask.CLOSED
    assert states[("b", "a")] == mask.OPEN
    assert "3 of 4 cells are open" in spec(chart)["description"]


def test_rows_and_columns_are_called_what_they_are():
    allowed = torch.tensor([[True, False]])
    said = str(spec(mask.mask_viewer(allowed, ["a"], ["b", "c"], axes=("step: before", "symbol"))))
    assert "'title': 'step: before'" in said
    assert "'title': 'step'" in said  # what one points at
    assert "'title': 'symbol'" in said
    assert "queries" not in said
