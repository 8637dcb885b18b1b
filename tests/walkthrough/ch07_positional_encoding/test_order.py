"""The chart of accuracy by position holds its numbers, and refuses what it cannot draw."""

import pytest
import torch

from walkthrough.ch07_positional_encoding.figures.order import accuracy_by_position

LENGTHS = (4, 8, 12)


def results(value=0.5):
    return {"sinusoidal": {n: torch.linspace(1, value, n) for n in LENGTHS}}


def test_data_slider_and_alt_text():
    spec = accuracy_by_position(results(), trained_to=4).to_dict()
    bind = spec["params"][0]["bind"]
    assert (bind["min"], bind["max"], bind["step"]) == (4, 12, 4)
    assert spec["params"][0]["value"] == 12
    rows = spec["layer"][1]["data"]["values"]
    assert [row["length"] for row in rows] == [4, 8, 12]
    assert rows[0]["accuracy"] == pytest.approx([1, 0.833, 0.667, 0.5], abs=1e-3)
    assert rows[0]["position"] == [0, 1, 2, 3]
    assert "before position 4" in spec["description"]


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({}, "at least one model; got none"),
        ({"a": {4: torch.ones(4)}}, "two or more evenly spaced lengths; got"),
        ({"a": {n: torch.ones(n) for n in (2, 4, 8)}}, r"evenly spaced lengths; got \[2, 4, 8\]"),
        ({"a": {2: torch.ones(2), 4: torch.ones(3)}}, "each of 4 positions; 'a' has 3"),
        (
            {
                "a": {2: torch.ones(2), 4: torch.ones(4)},
                "b": {2: torch.ones(2), 6: torch.ones(6)},
            },
            "the same lengths; got",
        ),
    ],
)
def test_what_cannot_be_drawn_is_refused(bad, message):
    with pytest.raises(ValueError, match=message):
        accuracy_by_position(bad, trained_to=2)
