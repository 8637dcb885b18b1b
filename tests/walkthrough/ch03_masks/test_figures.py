"""The chooser of masks draws what it is given, in its place, and refuses what does not fit."""

import pytest
import torch
from chart_specs import axis_titles, inputs, spec, views

from walkthrough.ch03_masks.figures import mask_chooser
from walkthrough.drawing import style

TOKENS = {"one": ["<s>", "Jane", "sings"], "two": ["<s>", "Paul", "<pad>"]}
CAUSAL = torch.ones(3, 3, dtype=torch.bool).tril()
PADDING = torch.tensor([True, True, False]).expand(3, 3)
MASKS = {
    "padding": {"one": torch.ones(3, 3, dtype=torch.bool), "two": PADDING},
    "both": {"one": CAUSAL, "two": CAUSAL & PADDING},
}


def drawn(chart):
    """The data of the chart by kind and sentence."""
    rows = next(views(spec(chart)))["data"]["values"]
    return {(row["kind"], row["sentence"]): row["open"] for row in rows}


def test_true_is_drawn_as_open_with_queries_as_rows():
    found = drawn(mask_chooser(MASKS, TOKENS))
    assert found["both", "one"] == [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    assert found["padding", "two"] == [[1, 1, 0]] * 3
    assert len(found) == 4


def test_selectors_offer_every_kind_and_sentence():
    found = inputs(mask_chooser(MASKS, TOKENS))
    assert found["kind"]["options"] == ["padding", "both"]
    assert found["sentence"]["options"] == ["one", "two"]


def test_one_sentence_needs_no_selector():
    one = {kind: {"one": by["one"]} for kind, by in MASKS.items()}
    assert set(inputs(mask_chooser(one, {"one": TOKENS["one"]}))) == {"kind"}


def test_words_axes_and_alt_text_are_arguments():
    chart = mask_chooser(
        MASKS,
        TOKENS,
        title="Which outputs move when one word is changed?",
        axes=("output", "changed word"),
        words=("moves", "stays"),
    )
    assert axis_titles(chart, "x") == {"changed word"}
    assert axis_titles(chart, "y") == {"output"}
    assert "both, two: 5 of 9" in chart.description
    assert "moves" in chart.to_json()


def test_it_fits_a_phone_and_weighs_little():
    chart = mask_chooser(MASKS, TOKENS)
    assert spec(chart)["width"]["step"] * 3 <= style.NARROW
    assert all(len(line) <= 46 for line in spec(chart)["title"])
    assert style.kilobytes(chart) < 20


@pytest.mark.parametrize(
    ("masks", "tokens", "rule"),
    [
        ({}, TOKENS, "at least one map"),
        ({"both": {"one": CAUSAL}}, TOKENS, "same sentences"),
        ({"both": {"one": CAUSAL[:2, :2]}}, {"one": TOKENS["one"]}, "expected"),
    ],
)
def test_what_does_not_fit_is_refused(masks, tokens, rule):
    with pytest.raises(ValueError, match=rule):
        mask_chooser(masks, tokens)
