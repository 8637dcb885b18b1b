"""The checks of chapter 17 accept what is right and name what is wrong."""

import math
from itertools import product

import numpy as np
import pytest
from soundness import assert_check_is_sound

from walkthrough.ch17_variations import checks
from walkthrough.lab.intervals import t_factor

ALL = [checks.interval, checks.sign_flips, checks.seeds_needed, checks.matched_d_ff]


def _reach(mean, low, high):
    return mean, mean - low, high - mean


@pytest.mark.parametrize("check", ALL, ids=lambda check: check.name)
def test_check_names_every_mistake_it_lists(check):
    assert_check_is_sound(check)


def test_a_learners_own_ways_are_right():
    def interval(ours, base, t):
        d = np.array(ours) - np.array(base)
        half = t * d.std(ddof=1) / len(d) ** 0.5
        return [d.mean(), d.mean() - half, d.mean() + half]

    def sign_flips(differences):
        signs = np.array(list(product([1, -1], repeat=len(differences))))
        means = np.abs(signs @ np.array(differences))
        return (means >= abs(sum(differences)) - 1e-9).mean()

    def seeds_needed(sd, effect, t):
        return next(n for n in range(2, 10_000) if effect * math.sqrt(n) > t(n) * sd)

    assert checks.interval(interval).status == "right"
    assert checks.sign_flips(sign_flips).status == "right"
    assert checks.seeds_needed(seeds_needed).status == "right"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda a, b, t: sorted(checks.interval.reference(a, b, t)), "order"),
        (lambda a, b, t: _reach(*checks.interval.reference(a, b, t)), "the mean less that"),
    ],
)
def test_intervals_in_another_form(answer, said):
    assert said in checks.interval(answer).message


@pytest.mark.parametrize("answer", [2624.6, 2625, 2625.0])
def test_hidden_units_may_be_rounded(answer):
    assert checks.matched_d_ff(answer).status == "right"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (577, "come on top"),
        (2624, "round down"),
        (3201, "of one stack"),
        (3202, "512 numbers twice"),
    ],
)
def test_a_width_from_a_wrong_count_is_told_which_count(answer, said):
    assert said in checks.matched_d_ff(answer).message


@pytest.mark.parametrize(("answer", "said"), [(2500, "fewer than base"), (3000, "more than base")])
def test_another_width_is_told_what_it_gives(answer, said):
    assert said in checks.matched_d_ff(answer).message


def test_a_share_of_one_side_doubled_is_wrong():
    def doubled(differences):
        found = sum(differences)
        ways = list(product([1, -1], repeat=len(differences)))
        sums = [sum(s * d for s, d in zip(way, differences, strict=True)) for way in ways]
        side = 1 if found >= 0 else -1
        return 2 * sum(side * one >= abs(found) - 1e-9 for one in sums) / len(ways)

    assert "differences of mean 0" in checks.sign_flips(doubled).message


def test_a_search_for_seeds_that_gives_up_is_wrong():
    def seeds_needed(sd, effect, t):
        return next((n for n in range(2, 31) if t(n) * sd / math.sqrt(n) < effect), None)

    assert "an effect of a third" in checks.seeds_needed(seeds_needed).message


def test_five_seeds_cannot_reach_one_in_twenty_by_signs():
    assert checks.sign_flips.reference([1.0, 2.0, 3.0, 4.0, 5.0]) == 2 / 32


def test_one_standard_deviation_needs_seven_seeds():
    assert checks.seeds_needed.reference(1.0, 1.0, t_factor) == 7
