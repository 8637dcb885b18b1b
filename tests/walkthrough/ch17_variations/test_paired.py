"""Pairs of runs: what they cover, and signs that cannot be confused."""

import pandas as pd
import pytest

from walkthrough.ch17_variations import paired
from walkthrough.ch17_variations.intervals import t_interval
from walkthrough.lab import compare


def test_only_t_keeps_what_it_says_for_five():
    shares = paired.coverage(5)
    assert 0.935 < shares["t"] < 0.965
    assert shares["bootstrap"] < shares["1.96 for t"] < 0.9


SEEDS = pd.Index([1, 2, 3], name="seed")
LAST = pd.DataFrame({"A h=1": [13.0, 14.0, 15.0], "base": [11.0, 12.0, 13.0]}, SEEDS)
EARLY = pd.DataFrame({"A h=1": [111.0, 121.0, 131.0], "base": [110.0, 120.0, 130.0]}, SEEDS)


def test_differences_are_those_of_the_laboratory():
    found = paired.differences(paired.by_seed("17-table-3", "test_sentences/-/perplexity"))
    assert list(found)[:2] == ["A h=1", "A h=4"]
    assert len(found.columns) == 18
    expected = compare("17-table-3", "A h=1", figure="test_sentences/perplexity").differences
    assert list(found["A h=1"]) == pytest.approx(expected)


def test_a_curve_is_read_where_it_was_measured():
    assert set(paired.on_the_way("17-captions", 250).index) == {1, 2, 3}
    there = r"measured after \[150, 300, 450, 600\] updates, not after 200"
    with pytest.raises(ValueError, match=there):
        paired.on_the_way("17-table-3", 200)


def test_runs_apart_mislead_where_pairs_do_not():
    early = paired.luck(EARLY, "A h=1", LAST)
    assert early.one == pytest.approx(3 / 6)  # ours with the lower seed looks better
    assert early.two == 0
    assert early.spread == pytest.approx(0, abs=1e-9)


def test_one_run_of_each_misleads_where_seeds_differ_more_than_rows():
    # base 11, 12, 13; ours 13, 14, 15: of six pairs apart, 13 − 13 alone does not point up
    assert paired.luck(LAST, "A h=1").one == pytest.approx(1 / 6)


@pytest.mark.parametrize(
    ("printed", "values", "said"),
    [
        (7.0, [1.0, 1.1, 1.2], "same direction"),
        (-7.0, [1.0, 1.1, 1.2], "other direction"),
        (7.0, [1.0, -1.1, 1.2], "not told apart"),
        (0.0, [1.0, -1.1, 1.2], "no difference either"),
        (0.0, [1.0, 1.1, 1.2], "a difference here"),
    ],
)
def test_directions_are_compared(printed, values, said):
    assert paired.beside(printed, t_interval(values)) == said


def test_printed_differences_are_those_of_the_paper():
    assert paired.printed_difference("C N=2") == pytest.approx(21.66, abs=0.01)
    assert paired.printed_difference("C N=2", "bleu") == pytest.approx(-2.1)
    assert paired.printed_difference("E learned positions") == 0
