"""The figures of chapter 10 draw what they are given, and refuse what does not fit."""

import re

import pytest
from chart_specs import all_rows, inputs, spec

from walkthrough.ch10_why_self_attention import figures

WORDS = ["Jane", "visits", "<i>", "in", "September"]
STACKS = {
    "self-attention": figures.stack("self-attention", 5, width=512),
    "recurrence": figures.stack("recurrent", 5, width=512),
    "neighbours": figures.stack("restricted", 5, width=512),
}


def drawn():
    scene = figures.wired("wired", WORDS, STACKS, question="Who?", time="products")
    return scene, scene._repr_html_()


def test_each_frame_says_work_waiting_and_way():
    scene, _ = drawn()
    assert "Self-attention: 1 layer. work: 25,600 multiplications · waiting: 2 products" in str(
        scene
    )
    assert "Recurrence: 1 layer. work: 2,621,440 multiplications · waiting: 5" in str(scene)
    assert "way: 4 edges from Jane to September" in str(scene)
    one = figures.stack("dilated", 9)
    assert "work" not in str(
        figures.wired("one", [*"123456789"], {"dilated": one}, question="?", time="t")
    )


def test_every_edge_is_drawn_and_the_way_is_marked():
    _, markup = drawn()
    frames = re.split(r'<div class="at at-\d', markup)[1:]
    for frame, stack in zip(frames, STACKS.values(), strict=True):
        assert frame.count("<path") == sum(map(len, stack.reads.values()))
        assert frame.count("later way") == len(stack.way()) - 1
    assert "&lt;i&gt;" in markup


@pytest.mark.parametrize(
    ("kind", "places", "edges"),
    [("self-attention", {2}, {1}), ("recurrence", {1, 2, 3, 4, 5}, {1, 2, 3, 4, 5})],
)
def test_scores_come_a_tick_before_their_sums(kind, places, edges):
    _, markup = drawn()
    frame = re.split(r'<div class="at at-\d', markup)[1 + list(STACKS).index(kind)]
    assert {int(t) for t in re.findall(r'<b class="later" style="--t:(\d)', frame)} == places
    assert {int(t) for t in re.findall(r"<path [^>]*--t:(\d)", frame)} == edges


def test_a_graph_of_another_length_is_refused():
    with pytest.raises(ValueError, match="5 places for 2 words"):
        figures.wired("wired", WORDS[:2], STACKS, question="Who?", time="t")


def test_pairs_of_words_and_of_components_are_counted():
    said = str(figures.meetings(WORDS, (3, 8)))
    assert "words meet words d = 3: 25 of 25" in said
    assert "words meet weights d = 3: 9 of 64" in said
    markup = figures.meetings(WORDS, (3, 8))._repr_html_()
    assert "25 pairs of words · 3 numbers · 2 products = 150" in markup
    assert "64 pairs of components · 5 words · 2 matrices = 640" in markup


def test_what_neighbours_reach_grows_with_the_layers():
    said = str(figures.reached("reach", WORDS, 3, (1, 2, 4)))
    assert "1 layer: 13 of 25; 2 layers: 19 of 25; 4 layers: 25 of 25" in said


COSTS = {d: {"a": [(2, d), (4, 2 * d)], "b": [(2, 1), (4, 9)]} for d in (8, 16)}
TITLES = {"title": "Costs", "y_title": "operations", "start": 8}


def test_costs_are_drawn_by_width_and_the_rule_stands_at_the_chosen_one():
    chart = figures.crossing_chart(COSTS, **TITLES)
    rows = [row for row in all_rows(chart) if "cost" in row]
    assert {"d": 16, "layer": "a", "n": 4, "cost": 32.0} in rows
    assert len(rows) == 8
    assert set(inputs(chart)) == {"d_shown"}
    rule = next(layer for layer in spec(chart)["layer"] if layer["mark"]["type"] == "rule")
    assert rule["transform"] == [{"filter": "datum.d == d_shown"}]
    for layer in spec(chart)["layer"][:3]:  # the axis stays when the width changes
        assert layer["encoding"]["y"]["scale"]["domain"] == [1, 32]
        assert layer["encoding"]["x"]["scale"]["type"] == "log"


@pytest.mark.parametrize(
    ("costs", "start", "rule"),
    [(COSTS, 9, "one of the widths"), ({8: {"a": [(2, 0)]}}, 8, "above 0")],
)
def test_costs_that_cannot_be_drawn_are_refused(costs, start, rule):
    with pytest.raises(ValueError, match=rule):
        figures.crossing_chart(costs, title="Costs", y_title="ms", start=start)
