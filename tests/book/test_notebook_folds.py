"""The site folds imports, assertions, maps and predictions; of drawings what the author says."""

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from tools.book import notebooks
from tools.book.notebook_form import as_text, canonical

IMPORTS = """import math

import pandas as pd
import torch

from walkthrough.ch02_scaled_dot_product_attention import figures, predictions
from walkthrough.drawing.attention import attention_viewer, predicting
from walkthrough.page.architecture import chapter_map
"""


def tag_of(source, *, tags=(), before=(), after=()):
    """The tags that a cell of this code has in the canonical form."""
    cell = new_code_cell(source, metadata={"tags": list(tags)})
    cells = [new_code_cell(IMPORTS), *before, cell, *after]
    return list(
        canonical(new_notebook(cells=cells)).cells[1 + len(before)].metadata.get("tags", [])
    )


@pytest.mark.parametrize(
    "source",
    [
        "import os",
        "import torch\n\ntorch.set_num_threads(1)  # the tensors are small",
        "assert x == 1\nassert all(x > 0 for x in sizes)",
    ],
)
def test_what_is_in_the_way_folds(source):
    assert tag_of(source) == ["hide-input"]


@pytest.mark.parametrize(
    "source", ['chapter_map("attention", width=480)', "predictions.zero_score"]
)
def test_maps_and_predictions_have_no_input(source):
    assert tag_of(source, tags=["hide-input"]) == ["remove-input"]


@pytest.mark.parametrize(
    "source",
    [
        "weights = torch.softmax(scores, dim=-1)",
        "figures",
        "figures.SIZES",
        "draws = figures.recorded_rows(record)",
        "def drawn():\n    return figures.chart(curves)\n\n\ndrawn()",
        "for curve in curves:\n    figures.chart(curve)",
        "import os\n\nx = torch.ones(3)",
        "loss = model(x)\nassert loss > 0",
        "table(weights, words)",
    ],
)
def test_what_teaches_stays_open(source):
    assert tag_of(source, tags=["hide-input"]) == []
    assert tag_of(source, tags=["remove-input", "claim-1"]) == ["claim-1"]


@pytest.mark.parametrize(
    "source",
    [
        "figures.qk_explorer(query, key, words, words)",
        "attention_viewer(maps, predicting(words), keys).properties(width=300)",
        "runs = train(3)\nfigures.chart(runs)",
    ],
)
@pytest.mark.parametrize("tags", [[], ["hide-input"], ["remove-input"]])
def test_of_a_drawing_the_author_decides(source, tags):
    assert tag_of(source, tags=tags) == tags


def test_an_exercise_stays_open_and_a_removed_cell_is_left_alone():
    start = new_markdown_cell("::::{exercise} Draw\n:label: ex\n::::")
    end = new_markdown_cell(":::{solution} ex\n:::")
    assert tag_of("assert x", before=[start]) == []
    assert tag_of("assert x", before=[start, end]) == ["hide-input"]
    assert tag_of("assert x", before=[start, end], tags=["solution"]) == ["solution"]
    assert tag_of("assert x", tags=["remove-cell"]) == ["remove-cell"]


def test_a_missing_tag_is_noticed(tmp_path):
    notebook = canonical(new_notebook(cells=[new_code_cell(IMPORTS), new_code_cell("print(1)")]))
    path = tmp_path / "01-a.ipynb"
    notebook.cells[0].metadata = {}
    path.write_text(as_text(notebook), encoding="utf-8")
    assert notebooks.problems(path) == ["not canonical: run `make format`"]
