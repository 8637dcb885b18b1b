"""The figures of chapter 10 draw what they are given, and refuse what does not fit."""

import pytest
from chart_specs import all_rows, axis_titles, inputs, spec

from walkthrough.ch10_why_self_attention.experiments.wiring import wiring
from walkthrough.ch10_why_self_attention.figures.crossing import crossing_chart
from walkthrough.ch10_why_self_attention.figures.wiring import Words, wiring_explorer
from walkthrough.drawing import style

WIRINGS = {
    "self-attention": wiring("self-attention", n=5),
    "recurrent": wiring("recurrent", n=5),
    "convolutional": wiring("convolutional", n=5, n_layers=2, k=3),
}


def drawn_edges(chart, kind):
    return [row for row in all_rows(chart) if "starts" in row and row["kind"] == kind]


def test_every_edge_is_drawn_from_what_is_read_to_what_reads():
    chart = wiring_explorer(WIRINGS)
    for kind, reads in WIRINGS.items():
        wanted = {
            (before[1] + 1, before[0], after[1] + 1, after[0])
            for after, all_before in reads.items()
            for before in all_before
        }
        found = {(e["x"], e["y"], e["x2"], e["y2"]) for e in drawn_edges(chart, kind)}
        assert found == wanted


@pytest.mark.parametrize(
    ("kind", "start", "edges"),
    [("self-attention", 1, 1), ("recurrent", 1, 5), ("recurrent", 4, 2), ("convolutional", 1, 2)],
)
def test_the_marked_way_has_the_length_that_is_printed(kind, start, edges):
    chart = wiring_explorer(WIRINGS)
    assert sum(start in edge["starts"] for edge in drawn_edges(chart, kind)) == edges
    lines = next(
        row["text"]
        for row in all_rows(chart)
        if "text" in row and (row["kind"], row["start"]) == (kind, start)
    )
    assert lines[-1].endswith(f" {edges}")


def test_places_carry_their_step():
    places = [row for row in all_rows(wiring_explorer(WIRINGS)) if "step" in row]
    of_recurrence = [p["step"] for p in places if p["kind"] == "recurrent" and p["layer"] == 1]
    of_attention = [p["step"] for p in places if p["kind"] == "self-attention" and p["layer"] == 1]
    assert (of_recurrence, of_attention) == ([1, 2, 3, 4, 5], [1] * 5)


def test_the_explorer_has_its_inputs_words_and_alt_text():
    chart = wiring_explorer(WIRINGS, words=Words(title="Wege", x_title="Wort"))
    found = inputs(chart)
    assert found["kind"]["options"] == list(WIRINGS)
    assert (found["start"]["min"], found["start"]["max"]) == (1, 5)
    assert axis_titles(chart, "x") == {"Wort"}
    assert "recurrent: layers 1, steps in one layer 5, edges" in chart.description
    assert style.kilobytes(chart) < 40


def test_graphs_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="one length"):
        wiring_explorer({**WIRINGS, "short": wiring("recurrent", n=3)})
    with pytest.raises(ValueError, match="one length"):
        wiring_explorer({})


COSTS = {
    "one": {d: {"a": [(2, d), (4, 2 * d)], "b": [(2, 1), (4, 9)]} for d in (8, 16)},
    "many": {d: {"a": [(2, 3 * d), (4, 6 * d)], "b": [(2, 1), (4, 9)]} for d in (8, 16)},
}
TITLES = {"title": "Costs", "y_title": "ms", "start": 8}


def test_costs_are_drawn_by_view_width_and_layer():
    rows = [row for row in all_rows(crossing_chart(COSTS, **TITLES)) if "cost" in row]
    assert {"view": "many", "d": 16, "layer": "a", "n": 4, "cost": 96.0} in rows
    assert len(rows) == 2 * 2 * 2 * 2


def test_the_rule_stands_at_the_chosen_width():
    chart = crossing_chart(COSTS, **TITLES)
    rule = next(layer for layer in spec(chart)["layer"] if layer["mark"]["type"] == "rule")
    assert rule["encoding"]["x"]["field"] == "d"
    assert rule["transform"] == [{"filter": "datum.d == d_shown"}]
    name = next(layer for layer in spec(chart)["layer"] if layer["mark"]["type"] == "text")
    assert "color" not in name["mark"]  # the page's own ink: grey is faint in the dark
    assert [row["d"] for row in all_rows(chart) if "name" in row] == [8, 16]


def test_one_view_needs_no_selector():
    assert set(inputs(crossing_chart(COSTS, **TITLES))) == {"view", "d_shown"}
    one = crossing_chart({"one": COSTS["one"]}, **TITLES)
    assert set(inputs(one)) == {"d_shown"}
    assert "datum.view" not in one.to_json()


def test_the_axis_stays_when_the_view_changes():
    for layer in spec(crossing_chart(COSTS, **TITLES))["layer"][:3]:
        assert layer["encoding"]["y"]["scale"]["domain"] == [1, 96]


def test_both_axes_are_logarithmic():
    for layer in spec(crossing_chart(COSTS, **TITLES))["layer"][:3]:
        assert layer["encoding"]["x"]["scale"]["type"] == "log"
        assert layer["encoding"]["y"]["scale"]["type"] == "log"


@pytest.mark.parametrize(
    ("costs", "start", "rule"),
    [
        ({}, 8, "same widths"),
        (COSTS, 9, "to start with"),
        ({**COSTS, "other": {8: COSTS["one"][8]}}, 8, "same widths"),
        ({"one": {8: {"a": [(2, 0)]}}}, 8, "above 0"),
    ],
)
def test_costs_that_cannot_be_drawn_are_refused(costs, start, rule):
    with pytest.raises(ValueError, match=rule):
        crossing_chart(costs, title="Costs", y_title="ms", start=start)
