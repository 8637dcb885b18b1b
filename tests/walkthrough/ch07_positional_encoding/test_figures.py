"""The figures of chapter 07 hold the numbers they show."""

import math

import pytest
import torch
from chart_specs import all_rows, inputs, spec

from transformer.positional import sinusoidal_encoding
from walkthrough.ch07_positional_encoding import figures

ENCODING = sinusoidal_encoding(20, 8)


def clocks(angles, marks=None):
    return figures.clocks(
        "c",
        ["one", "two"],
        [figures.Hand("a", "#112233", angles), figures.Hand("b", "#445566", angles, 0.5)],
        [["x", "y"], ["z", "w"]],
        marks=marks,
        choices=["0", "1"],
        question="Where?",
        says=["At 0.", "At 1."],
    )


def test_each_hand_stands_at_its_angle_in_each_frame():
    shown = clocks(torch.tensor([[0.0, 1.0], [2.0, 0.25]]))
    assert "--z:0.000;--a0:0.000;--a1:2.000" in shown.markup
    assert shown.markup.count("--z:1.000;--a0:1.000;--a1:0.250") == 2  # two hands
    assert "height:46%" in shown.markup
    assert "height:23%" in shown.markup
    assert "At 0. At 1." in repr(shown)


def test_a_far_hand_keeps_its_place_and_a_mark_stands_on_the_rim():
    shown = clocks(torch.full((2, 2), 400.0), marks=torch.tensor([[0.0, math.pi / 2]]))
    assert f"--a1:{400 % math.tau + 3 * math.tau:.3f}" in shown.markup
    assert '<u style="left:50.0%;top:0.0%">' in shown.markup
    assert '<u style="left:100.0%;top:50.0%">' in shown.markup


def test_encoding_heatmap_has_positions_as_rows_and_dimensions_as_columns():
    chart = figures.encoding_heatmap(ENCODING)
    (row,) = all_rows(chart)
    assert len(row["value"]) == len(row["position"]) == 20
    assert len(row["value"][0]) == len(row["dimension"]) == 8
    assert row["value"][0] == [0.0, 1.0] * 4
    assert row["value"][1][0] == round(math.sin(1), 2)
    assert spec(chart)["encoding"]["y"]["field"] == "position"


def test_waves_are_the_columns_of_the_encoding():
    chart = figures.encoding_waves(ENCODING)
    rows = {(row["pair"], row["wave"].split()[-1]): row["value"] for row in all_rows(chart)}
    assert len(rows) == 8
    for wave, column in (("sine", 2), ("cosine", 3)):
        drawn = torch.tensor(rows[1, wave])
        torch.testing.assert_close(drawn, ENCODING[:, column], atol=6e-4, rtol=0)
    assert inputs(chart)["pair"]["max"] == 3
    with pytest.raises(ValueError, match="even d_model; got 7"):
        figures.encoding_waves(torch.zeros(4, 7))


def test_accuracy_is_drawn_for_every_length_of_the_slider():
    results = {"sinusoidal": {n: [1.0] * 4 + [0.25] * (n - 4) for n in (4, 8, 12)}}
    chart = figures.accuracy_by_position(results, trained_to=4)
    slider = inputs(chart)["length"]
    assert (slider["min"], slider["max"], slider["step"]) == (4, 12, 4)
    drawn = {row["length"]: row["accuracy"] for row in all_rows(chart) if "length" in row}
    assert drawn == results["sinusoidal"]
    assert "sinusoidal: 25% from position 4 on" in spec(chart)["description"]
