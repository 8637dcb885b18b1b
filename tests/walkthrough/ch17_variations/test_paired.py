"""Pairs of runs: what they cover, and signs that cannot be confused."""

import math

import pytest

from walkthrough.ch17_variations import paired
from walkthrough.lab.intervals import t_interval


def test_only_t_keeps_what_it_says_for_five():
    shares = paired.coverage(5)
    assert 0.935 < shares["t"] < 0.965
    assert shares["bootstrap"] < shares["1.96 for t"] < 0.9


def run(row, seed, end, early):
    scores = {"perplexity": math.exp(end / 100), "bleu": 90 - end}
    curve = [[150, math.exp(early / 100)], [600, math.exp(end / 100)]]
    return {"row": row, "seed": seed, "split": scores, "curve": curve}


RUNS = [
    *(run("base", seed, 10.0 + seed, 100.0 + 10 * seed) for seed in (1, 2, 3)),
    *(run("A h=1", seed, 12.0 + seed, 101.0 + 10 * seed) for seed in (3, 2, 1)),
    run("C N=2", 1, 20.0, 150.0),
]


def test_differences_are_paired_by_seed_and_in_per_cent():
    assert paired.differences(RUNS, "A h=1", "split") == pytest.approx([2.0, 2.0, 2.0])
    assert paired.differences(RUNS, "A h=1", "split", "bleu") == pytest.approx([-2.0, -2.0, -2.0])
    assert paired.differences(RUNS, "C N=2", "split") == pytest.approx([9.0])


def test_rows_without_all_seeds_are_left_out():
    assert paired.complete_rows(RUNS, 3) == ["A h=1"]
    assert paired.complete_rows(RUNS, 1) == ["A h=1", "C N=2"]
    with pytest.raises(ValueError, match="no run of 'C N=8'"):
        paired.differences(RUNS, "C N=8", "split")


def test_runs_apart_mislead_where_pairs_do_not():
    early = paired.luck(RUNS, "A h=1", 150, 600)
    assert early.one == pytest.approx(3 / 6)  # ours with the lower seed looks better
    assert early.two == 0
    assert early.spread == pytest.approx(0, abs=1e-9)
    with pytest.raises(ValueError, match=r"measured after \[150, 600\] updates, not after 300"):
        paired.luck(RUNS, "A h=1", 300, 600)


def test_one_run_of_each_misleads_where_seeds_differ_more_than_rows():
    # base 11, 12, 13; ours 13, 14, 15: of six pairs apart, 13 − 13 alone does not point up
    assert paired.misled_by_one(RUNS, "A h=1", "split") == pytest.approx(1 / 6)


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
def test_a_verdict_compares_directions(printed, values, said):
    assert paired.verdict(printed, t_interval(values)) == said


def test_printed_differences_are_those_of_the_paper():
    assert paired.printed_difference("C N=2") == pytest.approx(21.66, abs=0.01)
    assert paired.printed_difference("C N=2", "bleu") == pytest.approx(-2.1)
    assert paired.printed_difference("E learned positions") == 0


def test_curves_of_the_command_line_become_points():
    log = [{"update": 250.0, "valid_perplexity": 9.0, "loss": 3.0}]
    (found,) = paired.with_points([{"row": "base", "seed": 1, "curve": log}])
    assert found["curve"] == [(250, 9.0)]
    assert paired.curve_values([found], "base", 250) == {1: pytest.approx(100 * math.log(9))}
