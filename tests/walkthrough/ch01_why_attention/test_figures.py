"""The figure of chapter 01 holds the gradients it shows, and refuses what it cannot draw."""

import pytest
from chart_specs import inputs, rows, spec, views

from walkthrough.ch01_why_attention.figures import gradient_explorer, lstm_cell

STEPS = (1, 10, 20)


def measured(factors=(0.5, 1.0, 1.5), names=("tanh", "linear")):
    return {
        name: {w: [(n, w**n / (1 + k)) for n in STEPS] for w in factors}
        for k, name in enumerate(names)
    }


def lines(chart):
    return next(view for view in views(spec(chart)) if "strokeDash" in view["encoding"])


def test_every_network_factor_and_distance_is_drawn_beside_the_power():
    data = rows(lines(gradient_explorer(measured(), start=0.5)))
    assert len(data) == 3 * 3 * 3
    found = {(row["network"], row["w"], row["steps"]): row["gradient"] for row in data}
    assert found["linear", 1.5, 10] == pytest.approx(1.5**10 / 2, rel=0.01)
    assert found["|w| to the power of the steps", 0.5, 20] == pytest.approx(0.5**20, rel=0.01)


def test_the_slider_offers_the_measured_factors():
    bound = inputs(gradient_explorer(measured(), start=0.5))["w"]
    assert (bound["min"], bound["max"], bound["step"]) == (0.5, 1.5, 0.5)


def test_one_scale_holds_for_all_factors():
    view = lines(gradient_explorer(measured(), start=0.5))
    low, high = view["encoding"]["y"]["scale"]["domain"]
    drawn = [row["gradient"] for row in rows(view)]
    assert (low, high) == (min(drawn), max(drawn))


def test_the_words_say_where_the_lines_end():
    chart = spec(gradient_explorer(measured(), start=0.5))
    assert "After 20 steps: tanh: 9.5e-07 for |w| = 0.5, 3.3e+03" in chart["description"]


@pytest.mark.parametrize(
    ("data", "start", "words"),
    [
        ({}, 0.5, "at least one network; got none"),
        (measured(), 0.7, r"must start at one of \[0.5, 1.0, 1.5\]; got 0.7"),
        (measured(factors=(0.5, 1.0, 2.0)), 0.5, "evenly spaced"),
        (measured(factors=(0.5,)), 0.5, "evenly spaced"),
        ({**measured(), "other": {0.5: [(1, 1.0)]}}, 0.5, "at the same"),
        ({"a": {0.5: [(1, 0.0)], 1.0: [(1, 1.0)]}}, 0.5, "values above 0"),
    ],
)
def test_what_cannot_be_drawn_is_refused(data, start, words):
    with pytest.raises(ValueError, match=words):
        gradient_explorer(data, start=start)


def test_the_cell_of_an_lstm_shows_every_gate_once():
    svg = lstm_cell().svg
    assert all(svg.count(f">{name}<") == 1 for name in ("forget", "input", "new", "output"))
    assert svg.count(">×<") == 3
    assert svg.count(">+<") == 1
