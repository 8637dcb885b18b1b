"""The pictures of chapter 18 show what was counted, and mark what is wrong."""

import re

import pandas as pd
import pytest
import torch
from chart_specs import all_rows, inputs, spec

from transformer.data.phrasebook import parse_brackets
from walkthrough.ch18_constituency_parsing import figures
from walkthrough.ch18_constituency_parsing.experiments.published import TABLE_4
from walkthrough.ch18_constituency_parsing.figures import trees
from walkthrough.ch18_constituency_parsing.figures.rules import MAY, MAY_NOT

GOLD = parse_brackets("(S (NP Jane) (VP visits (NP Africa) (PP in (NP September))))")
OTHER = parse_brackets("(S (NP Jane) (VP visits (NP (NP Africa) (PP in (NP September)))))")


def test_a_wrong_bracket_is_marked_and_the_others_are_not():
    drawn = figures.compared_trees(GOLD, OTHER, label="t")
    assert drawn.svg.count("✗") == 1
    assert "NP over “Africa in September”, wrong" in drawn.svg
    assert "missed" not in drawn.svg
    turned = figures.compared_trees(OTHER, GOLD, label="t")
    assert "NP over “Africa in September”, missed" in turned.svg
    assert "✗" not in turned.svg
    assert drawn.svg.count("stroke-dasharray") == 1


def test_one_of_two_equal_brackets_is_marked():
    once, twice = parse_brackets("(S (NP a) b)"), parse_brackets("(S (NP (NP a)) b)")
    assert figures.compared_trees(once, twice, label="t").svg.count("✗") == 1


def test_every_word_has_its_row_and_the_drawing_fits():
    drawn = figures.tree_drawing(GOLD, title="A tree", label="t")
    for word in ("Jane", "visits", "Africa", "in", "September"):
        assert f">{word}</text>" in drawn.svg
    lefts = [float(x) for x in re.findall(r'<text x="([\d.]+)"', drawn.svg)]
    assert max(lefts) < trees.WIDTH
    nodes = trees.placed(GOLD, trees.Counter(), "agrees")
    assert [(n.label, n.start, n.end) for n in nodes][:2] == [("S", 0, 5), ("NP", 0, 1)]


def test_trees_over_other_words_are_refused():
    with pytest.raises(ValueError, match="must have the same words"):
        figures.compared_trees(GOLD, parse_brackets("(S (NP Jane) (VP sings))"), label="t")


def test_table_4_has_a_menu_and_every_system():
    chart = figures.table_4(TABLE_4)
    assert inputs(chart)["training"]["options"][0] == "all"
    assert len(all_rows(chart)) == len(TABLE_4)
    assert "92.7" in spec(chart)["description"]
    with pytest.raises(ValueError, match="at least one"):
        figures.table_4([])


RUNS = pd.DataFrame(
    [
        {"arm": arm, "seed": seed}
        | {
            f"{kind}/{decode}/f1": 10.0 * seed + beam
            for kind in ("seen", "held_out")
            for decode, beam in (("greedy", 1), ("beam21", 21))
        }
        for arm in ("word, with rules", "XX, free")
        for seed in (1, 2)
    ]
)


def test_seeds_are_told_in_words_too():
    picture = figures.seeds_chart(RUNS)
    assert "word, with rules, beam of 21, shapes held out: 31, 41" in picture.alt
    with pytest.raises(ValueError, match="at least one recorded run"):
        figures.seeds_chart(RUNS.head(0))


def test_what_may_not_come_is_grey():
    probabilities = torch.tensor([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1]])
    allowed = torch.tensor([[True, False, True], [True, False, True]])
    chart = figures.next_symbols(["(S"], ["(S", ")S", "XX"], probabilities, allowed, start=1)
    rows = [row for row in all_rows(chart) if "symbol" in row]
    assert {(r["symbol"], r["state"]) for r in rows if r["step"] == 1} == {
        ("(S", MAY),
        (")S", MAY_NOT),
        ("XX", MAY),
    }
    assert "At 1 of 2 steps the likeliest symbol is closed" in spec(chart)["description"]
    assert inputs(chart)["step"]["max"] == 1
    with pytest.raises(ValueError, match=r"\(2, 2\); got \(2, 3\)"):
        figures.next_symbols(["(S"], ["(S", ")S"], probabilities, allowed)


def test_lines_by_length():
    groups = [
        {"words": [1, 10], "sentences": 3, "f1": 90.0},
        {"words": [41, 1000], "sentences": 1, "f1": 60.0},
    ]
    rows = all_rows(figures.by_length({"PCFG": groups}))
    assert {(row["x"], row["y"]) for row in rows} == {(5.5, 90.0), (50, 60.0)}


def test_lines_by_number_of_sentences():
    chart = figures.by_sentences({"PCFG": {200: 60.04, 100: 50.0}})
    assert [(row["x"], row["y"]) for row in all_rows(chart)] == [(100, 50.0), (200, 60.0)]
    assert chart.to_dict()["layer"][0]["encoding"]["x"]["scale"]["type"] == "log"
