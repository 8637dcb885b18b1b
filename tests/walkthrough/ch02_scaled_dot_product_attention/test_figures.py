"""The figures of chapter 02 hold the numbers they show."""

import pytest
import torch
from chart_specs import all_rows, inputs, spec

from walkthrough.ch02_scaled_dot_product_attention import figures

TOKENS = ["Jane", "visite", "l'", "Afrique", "."]


def test_explorer_scores_are_the_dot_products_of_the_rows_it_shows():
    g = torch.Generator().manual_seed(1)
    query, key = torch.randn(5, 4, generator=g), torch.randn(5, 4, generator=g)
    for row in all_rows(figures.qk_explorer(query, key, TOKENS, TOKENS)):
        torch.testing.assert_close(
            torch.tensor(row["score"]), query[row["row"]] @ key[row["column"]], atol=6e-4, rtol=0
        )
        total = sum(a * b for a, b in zip(row["q"], row["k"], strict=True))
        assert total == pytest.approx(row["score"], abs=0.01)


def test_explorer_answers_clicks_and_selectors_and_starts_with_a_cell():
    chart = figures.qk_explorer(torch.ones(5, 4), torch.ones(5, 4), TOKENS, TOKENS)
    (param,) = spec(chart)["params"]
    assert param["value"] == [{"query": "Jane", "key": "Jane"}]
    assert param["select"]["on"] == "click"
    assert param["select"]["fields"] == ["query", "key"]
    assert inputs(chart)["key"]["options"] == TOKENS


def test_explorer_starts_where_there_is_something_to_see():
    query, key = torch.zeros(3, 2), torch.ones(3, 2)
    query[1, 0] = 2.0  # only the second word asks for anything
    (param,) = spec(figures.qk_explorer(query, key, TOKENS[:3], TOKENS[:3]))["params"]
    assert param["value"] == [{"query": TOKENS[1], "key": TOKENS[0]}]


def test_each_word_has_its_arcs_and_its_numbers():
    shown = figures.arcs(torch.tensor([[0.25, 0.75], [1.0, 0.0]]), ["a", "b"], first=0).markup
    assert shown.count("<path") == 4
    assert shown.count('type="radio"') == 2
    assert 'stroke-width="16.0"' in shown
    assert "a → b 0.75, b → a 1.00" in shown


def test_softmax_explorer_computes_softmax_in_the_browser_from_the_scores():
    chart = figures.softmax_explorer(torch.tensor([0.1234, 2.0]), ["a", "b"])
    assert [row["score"] for row in all_rows(chart)] == [0.123, 2.0]
    assert inputs(chart)["factor"]["input"] == "range"
    steps = [t.get("calculate") for t in spec(chart)["vconcat"][0]["transform"]]
    assert "exp(datum.scaled - datum.largest)" in steps
    assert "datum.power / datum.total" in steps
    with pytest.raises(ValueError, match="2 scores, 1 tokens"):
        figures.softmax_explorer(torch.tensor([0.1, 2.0]), ["a"])
