"""The figures of chapter 15 plot the numbers they are given."""

import math

import pytest
from chart_specs import all_rows, inputs, spec, views

from walkthrough.ch15_decoding.figures import decoding
from walkthrough.drawing import style

HYPOTHESES = [("", 1, -2.0), ("Jane sings", 3, -2.2), ("Jane sings and sings", 5, -4.0)]
RUNS = [
    {
        "seed": seed,
        "schedule": rate,
        "averaged": averaged,
        "curve": [] if averaged else [[n, decoding.EXACT, 0.1 * n] for n in range(1, 6)],
        decoding.EXACT: 0.7 if averaged else 0.5,
    }
    for seed in (1, 2)
    for rate in ("high", "low")
    for averaged in (False, True)
]


def test_the_penalty_figure_holds_every_output_and_a_slider():
    chart = decoding.length_penalty_chooser(HYPOTHESES)
    rows = all_rows(chart)
    assert [(r["output"], r["length"], r["log_prob"]) for r in rows] == [
        ("(nothing)", 1, -2.0),
        *HYPOTHESES[1:],
    ]
    assert inputs(chart)["alpha"]["max"] == 2
    assert "Jane sings, length 3, log P -2.20" in chart.description


def test_the_formula_in_the_figure_is_the_papers():
    view = next(iter(views(spec(decoding.length_penalty_chooser(HYPOTHESES)))))
    formula = view["transform"][0]["calculate"]
    for alpha in (0.0, 0.6, 2.0):
        python = formula.replace("datum.", "").replace("pow(", "math.pow(")
        value = eval(python, {"math": math, "log_prob": -3.0, "length": 7, "alpha": alpha})
        assert value == pytest.approx(-3.0 / (12 / 6) ** alpha)


@pytest.mark.parametrize(
    ("hypotheses", "rule"),
    [(HYPOTHESES[:1], "at least 2 outputs, got 1"), ([*HYPOTHESES, ("a", 2, 0.5)], "below 0")],
)
def test_outputs_that_cannot_be_scored_are_refused(hypotheses, rule):
    with pytest.raises(ValueError, match=rule):
        decoding.length_penalty_chooser(hypotheses)


def test_words_beyond_those_shown_keep_their_own_share():
    shares = {"a": 0.5, "b": 0.3, "c": 0.15, "d": 0.05}
    chart = decoding.temperature_chooser(shares, shown=2, others="rest")
    rows = all_rows(chart)
    assert [(r["word"], r["p"]) for r in rows] == [
        ("a", 0.5),
        ("b", 0.3),
        ("rest", 0.15),
        ("rest", 0.05),
    ]
    assert inputs(chart)["temperature"]["min"] > 0
    with pytest.raises(ValueError, match="add up to 1"):
        decoding.temperature_chooser({"a": 0.5})
    with pytest.raises(ValueError, match=r"not be negative .* smallest share of -0\.5"):
        decoding.temperature_chooser({"a": 1.5, "b": -0.5})


def test_averaging_shows_each_checkpoint_once():
    rows = all_rows(decoding.averaging_gain(RUNS))
    kinds = [r["kind"] for r in rows if (r["seed"], r["rate"]) == (1, "high")]
    assert kinds == [decoding.SINGLE] * 4 + [decoding.LAST, decoding.AVERAGED]
    last = {r["exact"] for r in rows if r["kind"] == decoding.LAST}
    assert last == {0.5}
    assert "rate low, average of the five: mean 70.0%" in decoding.averaging_gain(RUNS).description
    with pytest.raises(ValueError, match="at least one run"):
        decoding.averaging_gain([])


def test_figures_weigh_little():
    assert style.kilobytes(decoding.averaging_gain(RUNS)) < 20
