"""The figures of chapter 15 show the numbers they are given."""

import math
import re

import pytest
from chart_specs import all_rows, inputs, spec, views

from walkthrough.ch15_decoding import figures
from walkthrough.ch15_decoding.experiments import STOP, toy

HYPOTHESES = [("", 1, -2.0), ("Jane sings", 3, -2.2), ("Jane sings and sings", 5, -4.0)]
SEARCHES = {
    "one": (["she", "she visits"], "she visits Africa"),
    "all": (None, "Jane visits Africa"),
}


def test_the_boxes_of_a_column_fill_it_and_the_outputs_add_up():
    markup = figures.search_scene(toy, SEARCHES).markup
    boxes = re.findall(r"left:0.00%;width:([\d.]+)%;top:([\d.]+)%;height:([\d.]+)%", markup)
    assert sum(float(height) for _, _, height in boxes) == pytest.approx(100)
    shares = [float(p) for p in re.findall(r'<em class="num"[^>]*>([\d.]+)</em>', markup)]
    assert len(shares) == 9
    assert sum(shares) == pytest.approx(1, abs=0.02)
    assert max(shares) == 0.27


def test_a_scene_says_what_each_search_finds_and_misses():
    scene = figures.search_scene(toy, SEARCHES)
    assert "she visits Africa, P = 0.14, and misses 0.27." in scene.description
    assert "Jane visits Africa, P = 0.27: no output is more probable." in scene.description
    assert scene.markup.count("--a0:0.6;--a1:0.2") == 3  # the path that greedy search takes
    assert (STOP,) in dict(figures.beginnings(toy))


def test_the_penalty_figure_holds_every_output_and_a_slider():
    chart = figures.length_penalty_chooser(HYPOTHESES)
    rows = all_rows(chart)
    assert [(r["output"], r["length"], r["log_prob"]) for r in rows] == [
        ("(nothing)", 1, -2.0),
        *HYPOTHESES[1:],
    ]
    assert inputs(chart)["alpha"]["max"] == 2
    assert "Jane sings, length 3, log P -2.20" in chart.description


def test_the_formula_in_the_figure_is_the_papers():
    view = next(iter(views(spec(figures.length_penalty_chooser(HYPOTHESES)))))
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
        figures.length_penalty_chooser(hypotheses)


def test_every_seed_is_a_line_and_a_menu_chooses_the_measure():
    chart = figures.seed_lines(
        {"BLEU": {"a": [1.0, 2.0], "b": [3.0, 4.0]}, "length": {"a": [0.9, 1.0], "b": [1.0, 1.0]}},
        title="t",
        x_title="x",
        description="Lines.",
    )
    assert len(all_rows(chart)) == 8
    assert inputs(chart)["measure"]["options"] == ["BLEU", "length"]
