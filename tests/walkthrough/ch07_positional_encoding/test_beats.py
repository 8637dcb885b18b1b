"""The clocks of chapter 07 stand where the formula says, and its curve where the record does."""

from chart_specs import all_rows, inputs, spec

from walkthrough.ch07_positional_encoding import beats


def test_clocks_and_shares_hold_what_they_are_given():
    shares = [1.0, 0.5, *[0.25] * 39]
    chart = beats.clocks_and_accuracy(shares, [6.0, 8.0, 11.0, 15.0], trained_to=10, first=3)
    rows = all_rows(chart)
    faces = [row for row in rows if "turn" in row]
    assert {face["turn"] for face in faces} == {6.0, 8.0, 11.0, 15.0}
    assert all(face["k"] == list(range(10)) for face in faces)
    assert next(row["right"] for row in rows if "right" in row) == shares
    assert inputs(chart)["start"]["max"] == 40
    assert "100% from 0, 25% from 20, 25% from 40" in spec(chart)["description"]
