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


def test_every_frame_reads_a_row_and_says_which_row_answers():
    matrix = torch.eye(3)
    shown = figures.one_matrix(["<s>", "a", "b"], ["x", "y", "z"], matrix, 2 * matrix[1:], first=1)
    assert "points most at the row of b" in repr(shown)
    assert "&lt;s&gt;" in shown.markup
    assert shown.markup.count('class="frame at') == 2  # the last word is only said
    share = torch.softmax(2 * matrix[2], dim=0)[2]
    assert f"--a1:{100 * share:.0f}" in shown.markup


def test_words_that_point_alike_lie_together():
    rows = torch.tensor([[1.0, 0.0, 0.1], [2.0, 0.1, 0.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.2]])
    spots = figures._in_the_plane(rows)
    assert (spots.min(), spots.max()) == (0, 100)
    assert (spots[0] - spots[1]).norm() < 25 < (spots[0] - spots[3]).norm()
    groups = {"pets": ["cat", "dog"], "others": ["in", "not"]}
    shown = figures.word_map(groups, {"before": rows[[0, 2, 1, 3]], "after": rows}, first=1)
    assert shown.markup.count('class="glides"') == 4
    assert "pets: cat, dog" in repr(shown)


def test_no_label_covers_another_and_those_apart_stay():
    spots = torch.tensor([[50.0, 40.0], [52.0, 41.0], [49.0, 44.0], [90.0, 40.0]])
    moved = figures._apart(spots, torch.full((4,), 12.0))
    assert torch.equal(moved[3], spots[3])
    assert torch.equal(moved[:, 0], spots[:, 0])
    gaps = (moved[:3, None, 1] - moved[:3, 1]).abs() + 99 * torch.eye(3)
    assert gaps.min() > 5.2
    assert moved[:3, 1].argsort().tolist() == [0, 1, 2]
