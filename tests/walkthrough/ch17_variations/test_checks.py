"""The checks of chapter 17 accept what is right and name what is wrong."""

import math

import pytest
from soundness import assert_check_is_sound

from walkthrough.ch17_variations import checks
from walkthrough.lab import Arm, Experiment, Loaded, Outcome, compare, run

ALL = [checks.seeds_needed, checks.matched_d_ff]


@pytest.mark.parametrize("check", ALL, ids=lambda check: check.name)
def test_check_names_every_mistake_it_lists(check):
    assert_check_is_sound(check)


def test_a_learners_own_ways_are_right():
    def seeds_needed(sd, effect, t):
        return next(n for n in range(2, 10_000) if effect * math.sqrt(n) > t(n) * sd)

    assert checks.seeds_needed(seeds_needed).status == "right"


@pytest.mark.parametrize("answer", [2624.6, 2625, 2625.0])
def test_hidden_units_may_be_rounded(answer):
    assert checks.matched_d_ff(answer).status == "right"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (577, "come on top"),
        (2624, "one too few"),
        (2623, "have biases"),
        (3201, "of one stack"),
        (3202, "512 numbers twice"),
    ],
)
def test_a_width_from_a_wrong_count_is_told_which_count(answer, said):
    assert said in checks.matched_d_ff(answer).message


@pytest.mark.parametrize(("answer", "said"), [(2500, "fewer than base"), (3000, "more than base")])
def test_another_width_is_told_what_it_gives(answer, said):
    assert said in checks.matched_d_ff(answer).message


def ends(job):
    """What a run of no time measures."""
    better = 0.25 * (job.arm.name != "base") * job.data
    return Outcome(figures={"new/-/loss": 1 + 0.01 * job.seed**2 % 0.05 - better * job.seed})


def one():
    return 1


def nothing():
    return 0


def declared(*arms, load=one, **changes):
    """An experiment of a reader's."""
    told = {
        "name": "17-mine",
        "question": "Does it help?",
        "task": Loaded(load),
        "arms": arms or (Arm("base"), Arm("mine")),
        "base": "base",
        "run": ends,
    }
    return Experiment(**{**told, **changes})


def asked(mine, folder, arm="mine", base=None):
    """The verdict of the check on it, run and compared."""
    record = folder / "mine.jsonl"
    run(mine, record=record, progress=False)
    return checks.own_experiment((mine, compare(mine, arm, base, figure="new/loss", record=record)))


def test_an_experiment_of_ones_own_may_be_declared_in_any_way(tmp_path):
    styles = [
        declared(seeds=[3, 5, 8, 9, 11, 12], lengths=[7]),
        declared(Arm("mine"), Arm("base"), Arm("third", seeds=(1,)), name="05-other"),
        declared(Arm("base", seeds=range(1, 11)), Arm("mine", seeds=range(2, 7)), seeds=(1,)),
    ]
    for n, mine in enumerate(styles):
        verdict = asked(mine, tmp_path / str(n))
        assert verdict.status == "right", verdict
        assert verdict.message.endswith(("*one rate*", "*better*", "*too few seeds*"))
    assert asked(declared(base=None), tmp_path / "named", base="base").status == "right"


def test_the_likely_mistakes_of_an_experiment_are_named(tmp_path):
    seeds = (range(1, 6), range(5, 10))
    two = (Arm("base", seeds=seeds[0]), Arm("mine", seeds=seeds[1]))
    for mine, said in [
        (declared(base=None), "no base arm"),
        (declared(*two), "other seeds"),
        (declared(seeds=(1,)), "too few seeds"),
    ]:
        assert checks.own_experiment((mine, None)).mistake == said
    assert asked(declared(*two), tmp_path / "seeds").mistake == "other seeds"
    assert asked(declared(seeds=(4,)), tmp_path / "one").mistake == "too few seeds"
    assert "1 pair of runs can be luck" in asked(declared(seeds=(4,)), tmp_path / "one").message
    assert "what does yours change" in asked(declared(load=nothing), tmp_path / "same").message


def test_an_experiment_is_followed_to_its_verdict(tmp_path):
    mine = declared()
    assert checks.own_experiment((None, None)).status == "nothing yet"
    assert checks.own_experiment((mine, None)).message.startswith("the declaration is in order")
    assert "holds the verdict and why" in checks.own_experiment((mine, "better")).message
    assert "should be an `Experiment`" in checks.own_experiment(("17-mine", None)).message
    assert "nothing beside it" in checks.own_experiment((declared(Arm("base")), None)).message
    record = tmp_path / "mine.jsonl"
    run(mine, record=record, progress=False)
    found = compare(mine, "mine", figure="new/loss", record=record)
    other = declared(name="17-other")
    assert "another experiment" in checks.own_experiment((other, found)).message


def test_a_search_for_seeds_that_gives_up_is_wrong():
    def seeds_needed(sd, effect, t):
        return next((n for n in range(2, 31) if t(n) * sd / math.sqrt(n) < effect), None)

    assert "another `t`" in checks.seeds_needed(seeds_needed).message


def test_arms_that_differ_may_end_alike_by_the_figure_that_was_asked(tmp_path):
    arms = Arm("base"), Arm("mine", model={"norm": "pre"})
    verdict = asked(declared(*arms, load=nothing), tmp_path)
    assert verdict.status == "right"


@pytest.mark.parametrize("answer", [2432, 3201])
def test_a_width_that_two_slips_give_names_both(answer):
    assert checks.matched_d_ff(answer).message.startswith("two slips give this number")
