"""The figures of chapter 06 hold the numbers they show, and refuse what they cannot draw."""

import pytest
import torch
from chart_specs import all_rows, inputs, spec

from walkthrough.ch06_embeddings_and_softmax import figures

SIZES = {
    "paper": {64: {"embedding": 1.0, "logits": 1.0}, 512: {"embedding": 1.0, "logits": 1.1}},
    "no factor": {64: {"embedding": 0.1, "logits": 1.0}, 512: {"embedding": 0.05, "logits": 1.1}},
}


def test_sizes_are_drawn_and_the_selector_offers_every_recipe():
    chart = figures.scale_explorer(SIZES, start="no factor")
    assert inputs(chart)["recipe"]["options"] == ["paper", "no factor"]
    drawn = {(r["recipe"], r["d_model"], r["thing"]): r["size"] for r in all_rows(chart)}
    assert drawn["no factor", 512, "embedding"] == 0.05
    assert len(drawn) == 8
    assert "no factor: embedding 0.05, logits 1.1" in spec(chart)["description"]


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        ({}, "at least one recipe"),
        ({"a": {64: {"logits": 1.0}}, "b": {64: {"embedding": 1.0}}}, "the same positive sizes"),
        ({"a": {64: {"logits": 0.0}}}, "the same positive sizes"),
    ],
)
def test_sizes_that_cannot_be_drawn_are_refused(sizes, words):
    with pytest.raises(ValueError, match=words):
        figures.scale_explorer(sizes)


def test_gradients_are_drawn_by_word_and_use():
    gradients = {"source": torch.tensor([0.5, 0.0]), "output": torch.tensor([0.25, 1.0])}
    chart = figures.gradient_chart(["visite", "visits"], gradients, title="Who learns?")
    drawn = {(row["word"], row["end"]): row["gradient"] for row in all_rows(chart)}
    assert drawn["visits", "source"] == 0.0
    assert drawn["visite", "output"] == 0.25
    assert "source: 1 of 2 words get none" in spec(chart)["description"]
    with pytest.raises(ValueError, match="one gradient for each of 1 words"):
        figures.gradient_chart(["visite"], gradients, title="Who learns?")
    with pytest.raises(ValueError, match=r"1 words is needed; got \{\}"):
        figures.gradient_chart(["visite"], {}, title="Who learns?")


MATRIX = torch.tensor([[1.0, 0.0], [2.0, 0.1], [0.0, 1.0], [-1.0, 0.0]])


def test_nearest_looks_at_directions_and_leaves_the_word_itself_out():
    found = figures.nearest(MATRIX, 0, among=range(4), n=2)
    assert [row for row, _ in found] == [1, 2]
    assert found[0][1] == pytest.approx(0.9988, abs=1e-3)


def test_the_explorer_shows_neighbours_before_and_after():
    tokens = ["cat", "dog", "in", "not"]
    chart = figures.neighbours_explorer(MATRIX[[0, 3, 2, 1]], MATRIX, tokens, ["cat", "in"], n=2)
    drawn = [row for row in all_rows(chart) if row["chosen"] == "cat"]
    assert [r["word"] for r in drawn if r["when"] == figures.AFTER] == ["dog", "in"]
    assert [r["word"] for r in drawn if r["when"] == figures.BEFORE] == ["not", "in"]
    assert inputs(chart)["chosen"]["options"] == ["cat", "in"]
    assert "nearest to cat: dog, in" in spec(chart)["description"]
    with pytest.raises(ValueError, match="must be tokens"):
        figures.neighbours_explorer(MATRIX, MATRIX, tokens, ["mouse"])
    with pytest.raises(ValueError, match="4 and 4 rows for 3 tokens"):
        figures.neighbours_explorer(MATRIX, MATRIX, tokens[:3], ["cat"])
