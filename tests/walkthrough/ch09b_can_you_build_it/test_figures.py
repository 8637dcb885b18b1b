"""The figure of the walk shows where each slip first shows, and says it in words."""

import re

import pytest

from walkthrough.capstone.walk import Seen
from walkthrough.ch09b_can_you_build_it import experiments, figures


@pytest.fixture(scope="module")
def found():
    slips = {"no slip": "", **experiments.FORGOTTEN}
    return {name: experiments.walked(slip) for name, slip in slips.items()}


def test_a_slip_parts_at_its_block_and_nothing_parts_without_one(found):
    first = {name: one.walk.first and one.walk.first.name for name, one in found.items()}
    assert first == {
        "no slip": None,
        "the root of d_model": "the source's embedding",
        "that sines and cosines take turns": "the source's embedding plus positions",
        "to divide by √d_k": "encoder layer 1, self-attention",
        "the norm's place": first["the norm's place"],
        "the ReLU": "encoder layer 1, feed-forward network",
        "that the next word is closed": "decoder layer 1, self-attention",
        "the source's padding": "decoder layer 1, attention to the encoder's output",
    }
    assert "encoder layer 1" in first["the norm's place"]
    assert all(one.walk.cause for name, one in found.items() if name != "no slip")


def test_the_figure_marks_every_block_in_every_frame(found):
    shown = figures.walk(found)
    markup = shown._repr_html_()
    blocks = len(found["no slip"].walk.blocks)
    assert markup.count('class="bar"') == blocks
    assert markup.count("◀") == len(
        {one.walk.first.name for one in found.values() if one.walk.first}
    )
    assert "encoder layer 1, self-attention" in shown.description
    assert "forgets to divide the scores" in shown.description
    assert len(re.findall(r"<label>", markup)) == len(found)


@pytest.mark.parametrize(
    ("seen", "length"),
    [
        (Seen("a", 1e-7, True), 0.0),
        (Seen("a", 1e-4, False), 0.05),
        (Seen("a", 0.1, False), 0.6),
        (Seen("a", 50.0, False), 1.0),
        (Seen("a", float("inf"), False), 1.0),
        (Seen("a", float("nan"), False), 1.0),
        (Seen("a", None, False), 1.0),
    ],
)
def test_a_bar_is_as_long_as_its_difference(seen, length):
    assert figures.strength(seen) == pytest.approx(length)


def test_an_unknown_slip_is_refused():
    with pytest.raises(ValueError, match="got 'typo'"):
        experiments.walked("typo")
