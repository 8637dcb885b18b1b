"""The figures of chapter 13 draw the distributions and figures that the page speaks of."""

import pandas as pd
import pytest
import torch
from chart_specs import all_rows, inputs, spec

from walkthrough.ch13_regularisation import figures


def test_the_target_is_computed_from_the_slider():
    chart = figures.target_explorer(["a", "b", "c", "d"], "c", start=0.2)
    slider = inputs(chart)["epsilon"]
    assert (slider["min"], slider["max"]) == (0, 0.5)
    assert [row["gold"] for row in all_rows(chart)] == [0, 0, 1, 0]
    words = str(spec(chart))
    assert "(1 - epsilon) * datum.gold + epsilon / 4" in words
    assert "gets 0.8500 and every other token 0.0500" in spec(chart)["description"]


@pytest.mark.parametrize(("tokens", "gold"), [(["a", "b"], "c"), (["a", "a"], "a")])
def test_a_gold_token_that_is_not_there_is_refused(tokens, gold):
    with pytest.raises(ValueError, match="must be one of different tokens"):
        figures.target_explorer(tokens, gold)


def test_the_loss_is_lowest_at_the_target():
    chart = figures.loss_explorer(500, start=0.1)
    assert "lowest at 0.900" in spec(chart)["description"]
    assert "epsilon * 499 / 500" in str(spec(chart))
    assert max(row.get("p", 0) for row in all_rows(chart)) < 1


@pytest.mark.parametrize("start", [-0.1, 0.6])
def test_smoothing_starts_inside_the_slider(start):
    with pytest.raises(ValueError, match=r"smoothing must start in \[0, 0.5\]"):
        figures.loss_explorer(10, start=start)


def test_one_token_is_no_vocabulary():
    with pytest.raises(ValueError, match="at least 2 tokens, got 1"):
        figures.loss_explorer(1)


def test_every_draw_has_every_number_and_the_mean_comes_back():
    rows = all_rows(figures.dropout_explorer(["a", "b"]))
    assert len(rows) == figures.N_DRAWS * 2 * figures.N_COMPONENTS
    kept = [row["x"] / 0.9 if row["u"] >= 0.1 else 0 for row in rows]
    assert sum(kept) / len(rows) == pytest.approx(sum(r["x"] for r in rows) / len(rows), abs=0.15)


def test_a_curve_can_be_stopped_where_it_has_a_point():
    points = pd.DataFrame(
        [("p = 0", s, u, 3.0 - u / 100) for s in ("seen", "unseen") for u in (50, 100, 150)],
        columns=["arm", "split", "update", "perplexity"],
    )
    chart = figures.curves_chart(points)
    slider = inputs(chart)["stop"]
    assert (slider["min"], slider["max"], slider["step"]) == (50, 150, 50)
    assert "after 150 updates: p = 0 seen 1.50, p = 0 unseen 1.50" in spec(chart)["description"]


def test_rows_are_drawn_with_their_signs():
    chart = figures.signed_rows({"x": torch.tensor([1.0, -2.0]), "y": torch.tensor([0.0, 0.5])})
    assert [row["kept"] for row in all_rows(chart)] == [1.0, -2.0, 0.0, 0.5]
    assert "x: 1.0, -2.0; y: 0.0, 0.5" in spec(chart)["description"]
