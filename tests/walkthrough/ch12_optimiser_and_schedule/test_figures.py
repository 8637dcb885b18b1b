"""The figures of chapter 12 hold the numbers they show, and refuse what they cannot draw."""

import math

import pytest
import torch
from chart_specs import all_rows, inputs, spec

from transformer.training.schedule import noam_rate
from walkthrough.ch12_optimiser_and_schedule import figures


def value_of(formula, update):
    """Compute one of Vega's formulas in Python."""
    names = {"sqrt": math.sqrt, "pow": pow, "min": min}
    return eval(formula.replace("datum.update", str(update)), names)  # our own text


@pytest.mark.parametrize("update", [1, 100, 4000, 20_000])
def test_the_formula_on_the_page_is_the_packages(update):
    words = {name: str(value) for name, value in figures.PAPER.items()}
    assert value_of(figures.formula(**words), update) == pytest.approx(
        noam_rate(update, d_model=512, warmup=4000)
    )


def test_the_sliders_start_at_the_papers_values_and_move_what_they_name():
    chart = figures.rate_explorer()
    params = {param["name"]: param for param in spec(chart)["params"]}
    assert params["warmup_updates"]["value"] == 4000
    assert params["width_of_model"]["value"] == 512
    assert params["factor"]["value"] == 1.0
    assert set(inputs(chart)) >= {"warmup_updates", "width_of_model", "factor"}
    for name in params:
        assert name in figures.CHOSEN
    assert [row["update"] for row in all_rows(chart) if "update" in row][-1] == 20_000


def test_a_curve_that_ends_before_the_peak_is_refused():
    with pytest.raises(ValueError, match="beyond update 4000"):
        figures.rate_explorer(longest=3000)


def run(peak, kind, learned):
    return {"peak": peak, "kind": kind, "losses": [(10, 2.0), (20, 1.0)], "learned": learned}


def test_runs_are_chosen_by_their_peak_and_counted():
    runs = [run(0.1, figures.WITH, True), run(0.1, figures.WITHOUT, False)]
    chart = figures.runs_explorer([*runs, run(0.2, figures.WITH, True)], start=0.2, guessing=2.7)
    assert inputs(chart)["highest_rate"]["options"] == [0.1, 0.2]
    assert [row["said"] for row in all_rows(chart) if "said" in row][:2] == [
        "with a warm-up: 1 of 1 learn",
        "without: 0 of 1 learn",
    ]


def test_first_steps_are_drawn_where_they_are_not_zero():
    drawn = figures.first_steps(torch.tensor([1e-3, 0.0]), torch.tensor([1.0, 0.0]), alt_text="a")
    assert "size of the gradient" in drawn.svg
    assert drawn.alt == "a"
