"""The figures of chapter 04 hold the numbers they show, and refuse what they cannot draw."""

import json

import pytest
from chart_specs import inputs, rows, spec, views

from walkthrough.ch04_multi_head_attention.figures import (
    AT_ONCE,
    EXCHANGED,
    merge_explorer,
)

WORDS = ["Jane", "visits", "Africa", "in", "September"]


def merged(n_heads, way):
    data = rows(next(views(spec(merge_explorer(WORDS, 6)))))
    return next(row for row in data if row["n_heads"] == n_heads and row["way"] == way)


@pytest.mark.parametrize("n_heads", [1, 2, 3, 6])
def test_exchanged_first_every_number_stands_in_its_words_row(n_heads):
    row = merged(n_heads, EXCHANGED)
    assert row["word"] == row["row"]
    d = 6 // n_heads
    assert row["head"][:6] == [1 + i // d for i in range(6)]
    assert row["place"][:6] == [1 + i % d for i in range(6)]


def test_flattened_at_once_the_first_row_holds_one_heads_words():
    row = merged(3, AT_ONCE)
    assert row["word"][:6] == ["Jane", "Jane", "visits", "visits", "Africa", "Africa"]
    assert set(row["head"][:6]) == {1}


def test_one_head_is_merged_right_in_either_way():
    assert merged(1, AT_ONCE)["word"] == merged(1, AT_ONCE)["row"]


def test_the_explorer_offers_every_number_of_heads_and_both_ways():
    bound = inputs(merge_explorer(WORDS, 6))
    assert bound["n_heads"]["options"] == [6, 3, 2, 1]
    assert bound["way"]["options"] == [EXCHANGED, AT_ONCE]


def test_the_explorer_says_in_words_what_it_shows():
    row = merged(3, AT_ONCE)
    strangers = sum(w != r for w, r in zip(row["word"], row["row"], strict=True))
    assert f"{strangers} with 3 heads" in spec(merge_explorer(WORDS, 6))["description"]


@pytest.mark.parametrize(("words", "start"), [(WORDS, 4), ([], 3)])
def test_heads_that_do_not_divide_are_refused(words, start):
    with pytest.raises(ValueError, match=rf"divides d_model = 6: got \d words and {start} heads"):
        merge_explorer(words, 6, start=start)


def test_the_first_word_may_have_an_apostrophe():
    shown = json.dumps(spec(merge_explorer(["d'abord", "Jane"], 2, start=2)))
    assert 'datum.row == \\"d\'abord\\"' in shown
