"""The figures of chapter 13 draw the distributions and figures that the page speaks of."""

import pytest
from chart_specs import all_rows, inputs, spec

from walkthrough.ch13_regularisation import figures


def test_the_target_is_computed_from_the_slider():
    chart = figures.target_explorer(["a", "b", "c", "d"], "c", start=0.2)
    slider = inputs(chart)["epsilon"]
    assert (slider["min"], slider["max"]) == (0, 0.5)
    assert [row["gold"] for row in all_rows(chart)] == [0, 0, 1, 0]
    words = str(spec(chart))
    assert "(1 - epsilon) * datum.gold + epsilon / 4" in words
    assert "gets 0.8500 and every other token 0.0500" in spec(chart)["description"]


@pytest.mark.parametrize(("tokens", "gold"), [(["a", "b"], "c"), (["a", "a"], "a")])
def test_a_gold_token_that_is_not_there_is_refused(tokens, gold):
    with pytest.raises(ValueError, match="must be one of different tokens"):
        figures.target_explorer(tokens, gold)


def test_the_loss_is_lowest_at_the_target():
    chart = figures.loss_explorer(500, start=0.1)
    assert "lowest at 0.900" in spec(chart)["description"]
    assert "epsilon * 499 / 500" in str(spec(chart))
    assert max(row.get("p", 0) for row in all_rows(chart)) < 1


@pytest.mark.parametrize("start", [-0.1, 0.6])
def test_smoothing_starts_inside_the_slider(start):
    with pytest.raises(ValueError, match=r"smoothing must start in \[0, 0.5\]"):
        figures.loss_explorer(10, start=start)


def test_one_token_is_no_vocabulary():
    with pytest.raises(ValueError, match="at least 2 tokens, got 1"):
        figures.loss_explorer(1)


def test_every_seed_is_a_point():
    measures = {
        "BLEU": {"0": [90.0, 91.0], "0.1": [92.0, 93.5]},
        "perplexity": {"0": [1.2, 1.3], "0.1": [1.4, 1.5]},
    }
    chart = figures.seeds_chart(measures, title="Three seeds")
    drawn = [(row["setting"], row["value"]) for row in all_rows(chart)]
    assert sorted(drawn) == sorted((s, v) for by in measures.values() for s in by for v in by[s])
    assert "BLEU: 0 90 to 91, 0.1 92 to 93.5" in spec(chart)["description"]


@pytest.mark.parametrize(
    "measures", [{}, {"BLEU": {"0": []}}, {"a": {"0": [1.0]}, "b": {"1": [1.0]}}]
)
def test_measures_that_cannot_be_compared_are_refused(measures):
    with pytest.raises(ValueError, match="values of the same settings"):
        figures.seeds_chart(measures, title="Nothing")
