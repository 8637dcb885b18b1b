"""The figures of chapter 19 hold the numbers they show."""

import pytest
import torch
from chart_specs import all_rows, inputs, spec

from transformer.data.phrasebook.questions import Question
from walkthrough.ch19_what_the_heads_attend_to import figures
from walkthrough.ch19_what_the_heads_attend_to.figures.head_map import ANSWER, ASKED, OTHER, Row
from walkthrough.ch19_what_the_heads_attend_to.figures.seeds import MARKERS

EXAMPLE = Question(
    relation="it",
    source=("Jane", "sells", "the", "car", "and", "it"),
    target=("Jane", "elle"),
    query=5,
    answers=(3,),
    predicted=1,
    wrong=("il",),
    written=(),
)


def row(looks):
    shares = torch.tensor(looks)
    return Row(
        looks=shares,
        offset_share=0.25,
        whole=1.0,
        without=torch.full_like(shares, 0.9),
        example=EXAMPLE,
        weights=torch.full((*shares.shape, 7), 1 / 7),
    )


def test_the_map_of_heads_has_a_cell_for_each_head_and_relation():
    chart = figures.head_map({"it": row([[0.1, 0.2], [0.8, 0.3]]), "ses": row([[0.5] * 2] * 2)})
    cells = all_rows(chart)
    assert len(cells) == 8
    one = next(cell for cell in cells if (cell["relation"], cell["head"]) == ("it", "2.1"))
    assert (one["looks"], one["offset"], one["without"]) == (0.8, 0.25, 0.9)
    assert one["role"] == [OTHER, OTHER, OTHER, ANSWER, OTHER, ASKED, OTHER]
    assert len(one["weight"]) == len(one["word"]) == 7
    assert "head 2.1 for it" in spec(chart)["description"]


def test_the_map_is_chosen_by_click_and_by_menus():
    chosen = inputs(figures.head_map({"it": row([[0.1, 0.2]])}))
    assert chosen["relation"]["options"] == ["it"]
    assert chosen["head"]["options"] == ["1.1", "1.2"]


def test_a_map_of_nothing_is_refused():
    with pytest.raises(ValueError, match="at least one relation"):
        figures.head_map({})


def test_looks_are_said_with_their_range():
    rows = [{"relation": "it", "head": share, "offset": 0.4} for share in (0.5, 0.9)]
    drawn = figures.looks_chart(rows)
    assert "it: heads 0.50 to 0.90, distance 0.40" in drawn.alt
    assert drawn.svg.count("<use") >= 2


def test_hidden_edges_are_drawn_and_said():
    rows = [
        {"relation": "it", "hidden": label, "right": share}
        for label in MARKERS
        for share in (0.25, 0.75)
    ]
    drawn = figures.hidden_chart(rows)
    assert "it: nothing 0.25 to 0.75, a neighbour 0.25 to 0.75" in drawn.alt
    assert all(f">{label}<" in drawn.svg for label in MARKERS)


def test_heads_that_look_alike_stand_side_by_side():
    shares = {"it": {"a": 0.1, "b": 0.9, "c": 0.2}, "ses": {"a": 0.8, "b": 0.1, "c": 0.3}}
    drawn = figures.role_map(shares)
    assert "3 heads and 2 relations" in drawn.alt
    assert "it: 0.90; ses: 0.80" in drawn.alt


def test_trees_are_said_by_language():
    rows = [{"language": "French", "of": "random", "f1": 0.25}]
    assert "random, French: 0.25" in figures.tree_chart(rows).alt


def test_spans_become_brackets():
    words = ["the", "cat", "sleeps", "there"]
    assert figures.bracketed(words, {(0, 2), (2, 4)}) == "(the cat) (sleeps there)"
    assert figures.bracketed(words, {(0, 3), (0, 2)}) == "((the cat) sleeps) there"
