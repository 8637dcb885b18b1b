"""The pictures of chapter 18 show what was counted, and mark what is wrong."""

import pandas as pd
import pytest
import torch
from chart_specs import all_rows, inputs, spec

from transformer.parsing.trees import parse_brackets
from walkthrough.ch18_constituency_parsing import figures
from walkthrough.ch18_constituency_parsing.experiments.published import TABLE_4
from walkthrough.ch18_constituency_parsing.figures.rules import MAY, MAY_NOT

SEARCHES = (("greedy", 1), ("beam21", 21))
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


def test_seeds_are_told_in_words_too():
    runs = pd.DataFrame(
        [
            {"arm": arm, "length": length}
            | {f"seen/{decode}/f1": 40.0 + seed + beam for decode, beam in SEARCHES}
            for arm in ("free", "with rules")
            for length in (260, 1040)
            for seed in (1, 2)
        ]
    )
    rows = figures.by_way(runs, "seen")
    picture = figures.ways_chart(rows, {"a grammar": 97.5}, title="T")
    assert "with rules beam of 21, 260 updates: 62, 63" in picture.alt
    assert "a grammar: 97.5" in picture.alt
    with pytest.raises(ValueError, match="at least one recorded run"):
        figures.ways_chart({}, {}, title="T")


def test_a_walk_opens_and_closes_every_box():
    walk = figures.tree_walk(GOLD)
    assert walk.markup.count('class="is open') == walk.markup.count('class="is closed') == 6
    assert "At in: 11 symbols are written, and S, VP, PP are open" in walk.description
    assert "17 symbols for 5 words" in walk.description
    with pytest.raises(ValueError, match="frames for 5 words, got 6"):
        figures.tree_walk(("S", *"abcdef"))


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
