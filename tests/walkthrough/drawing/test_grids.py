"""The grids show each mask in its place, a frame a choice, and refuse what does not fit."""

import re

import pytest
import torch

from walkthrough.drawing.grids import Grid, grids

WORDS = ["<s>", "Jane", "sings"]
OPEN, CAUSAL = torch.ones(3, 3, dtype=torch.bool), torch.ones(3, 3, dtype=torch.bool).tril()


def drawn(markup, frame):
    """What the cells show in a frame, row by row."""
    return [int(value) for value in re.findall(rf"--a{frame}:(\d)", markup)]


def test_each_frame_shows_its_mask_with_queries_as_rows():
    shown = grids("x", [Grid("one", WORDS, WORDS, [OPEN, CAUSAL])], choices=["a", "b"], first=1)
    assert drawn(shown.markup, 0) == [1] * 9
    assert drawn(shown.markup, 1) == [1, 0, 0, 1, 1, 0, 1, 1, 1]
    assert [int(value) for value in re.findall(r"--z:(\d)", shown.markup)] == drawn(shown.markup, 1)
    assert "one a: 9 of 9; one b: 6 of 9" in shown.description
    assert "&lt;s&gt;" in shown.markup


def test_an_open_cell_is_filled_without_a_background_and_a_closed_one_framed():
    """Paper and high contrast take backgrounds away."""
    css = grids("x", [Grid("one", WORDS, WORDS, [CAUSAL])]).markup
    assert re.search(r"\.cells i\{[^}]*border:solid var\(--b,#0072b2\)", css)
    assert re.search(r"\.cells span\{[^}]*border:1px solid #8b959f", css)


def test_a_grid_may_have_another_number_of_columns_and_needs_no_choice():
    shown = grids("x", [Grid("one", WORDS, WORDS[:2], [CAUSAL[:, :2]])])
    assert drawn(shown.markup, 0) == [1, 0, 1, 1, 1, 1]
    assert "--n:2" in shown.markup
    assert 'type="radio"' not in shown.markup


def test_weights_are_drawn_as_strong_as_they_are():
    shown = grids(
        "x", [Grid("one", WORDS[:2], WORDS[:2], [torch.tensor([[1.0, 0.0], [0.3, 0.7]])])]
    )
    assert re.findall(r"--z:([\d.]+)", shown.markup) == ["1", "0", "0.3", "0.7"]
    assert 'class="cells weights"' in shown.markup


def test_masks_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"expected \(3, 2\), got \(3, 3\)"):
        grids("x", [Grid("one", WORDS, WORDS[:2], [OPEN])])
    with pytest.raises(ValueError, match="1 masks for 2 choices"):
        grids("x", [Grid("one", WORDS, WORDS, [OPEN])], choices=["a", "b"])
