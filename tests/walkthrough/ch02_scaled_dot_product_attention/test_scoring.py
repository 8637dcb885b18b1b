"""The comparison of ways to score: its task, and a picture of what it was given."""

import pytest
import torch
from chart_specs import all_rows, axis_titles, spec, views

from walkthrough.ch02_scaled_dot_product_attention import experiments
from walkthrough.ch02_scaled_dot_product_attention.figures.scoring import (
    D_K_AXIS,
    RECALL_AXIS,
    recall_chart,
)

ROWS = [
    {"score": score, "d_k": d_k, "seed": seed, "recall": recall + seed / 50}
    for score, worth in (("scaled dot", (0.5, 0.9)), ("additive", (0.4, 0.8)))
    for d_k, recall in zip((2, 256), worth, strict=True)
    for seed in range(2)
]


def test_a_question_asks_for_the_symbol_five_places_back():
    asked, symbols, _, wanted = experiments.questions(50, torch.Generator().manual_seed(0))
    assert torch.equal((asked - 5) % experiments.N_SYMBOLS, symbols[torch.arange(50), wanted])
    assert all(len(set(row)) == experiments.N_KEYS for row in symbols.tolist())


@pytest.mark.parametrize("kind", experiments.KINDS)
def test_every_way_to_score_learns_with_few_components(kind):
    assert experiments.recall(kind, 8, seed=0) > 0.6


def test_every_seed_is_a_point():
    drawn = [row for row in all_rows(recall_chart(ROWS, guessing=0.125)) if "seed" in row]
    assert drawn == ROWS


def test_axes_say_what_they_hold_and_the_share_starts_at_zero():
    chart = recall_chart(ROWS, guessing=0.125)
    assert axis_titles(chart, "x") == {D_K_AXIS}
    assert RECALL_AXIS in axis_titles(chart, "y")
    domains = [view["encoding"]["y"].get("scale", {}).get("domain") for view in views(spec(chart))]
    assert [0, 1] in domains


def test_lines_differ_in_dash_and_points_in_shape_not_only_in_colour():
    used = {
        channel
        for view in views(spec(recall_chart(ROWS, guessing=0.1)))
        for channel in view["encoding"]
    }
    assert {"color", "shape", "strokeDash"} <= used


def test_guessing_is_a_line_of_its_own():
    rows = all_rows(recall_chart(ROWS, guessing=0.125))
    assert [row["recall"] for row in rows if row.get("words") == "guessing"] == [0.125]


def test_alt_text_gives_the_means_at_the_largest_d_k():
    text = spec(recall_chart(ROWS, guessing=0.125))["description"]
    assert "d_k = 256" in text
    assert "scaled dot 0.91" in text  # of 0.90 and 0.92
    assert "additive 0.81" in text


def test_no_rows_is_an_error():
    with pytest.raises(ValueError, match="at least one row"):
        recall_chart([], guessing=0.125)
