"""The figures of chapter 12 hold the numbers they show, and refuse what they cannot draw."""

import math

import pytest
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


def test_days_are_flops_over_rate():
    chart = figures.days_explorer({"base": 86_400e12, "big": 864_000e12}, start=1.0)
    rows = {row["run"]: row["flops"] for row in all_rows(chart)}
    assert rows == {"base": 86_400e12, "big": 864_000e12}
    assert "base: 1 days; big: 10 days" in spec(chart)["description"]


@pytest.mark.parametrize(
    ("costs", "start", "words"),
    [({}, 1.0, "above 0"), ({"a": 0.0}, 1.0, "above 0"), ({"a": 1.0}, 1e9, "must lie between")],
)
def test_costs_that_cannot_be_drawn_are_refused(costs, start, words):
    with pytest.raises(ValueError, match=words):
        figures.days_explorer(costs, start=start)


def test_step_sizes_are_drawn_from_update_1():
    chart = figures.step_sizes({"a": [1.0, 0.5], "b": [1.0, 0.25]}, changes_at=2, title="t")
    rows = [(row["run"], row["update"], row["step"]) for row in all_rows(chart) if "run" in row]
    assert rows == [("a", 1, 1.0), ("a", 2, 0.5), ("b", 1, 1.0), ("b", 2, 0.25)]
    assert "b ends at 0.25" in spec(chart)["description"]


def test_a_change_outside_the_run_is_refused():
    with pytest.raises(ValueError, match="updates 1 … 2, got 3"):
        figures.step_sizes({"a": [1.0, 0.5]}, changes_at=3, title="t")
