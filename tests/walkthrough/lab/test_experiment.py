"""What is declared is checked before hours are spent, and only what is missing is planned."""

from dataclasses import replace
from functools import partial

import pytest
from toy import made, toy

from walkthrough.lab import Arm, Experiment, Key, Loaded
from walkthrough.lab.experiment import plan
from walkthrough.lab.hooks import CommandLine


def chosen(arm, length):
    return {"slow": 1, "quick": 2}[arm]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"name": "width"}, "name must be like 05-width"),
        ({"seeds": (1, 1)}, "seeds must rise"),
        ({"rates": (2, 1)}, "rates must rise"),
        ({"lengths": ()}, "lengths must rise"),
        ({"base": "slwo"}, "did you mean slow"),
        ({"arms": [Arm("slow"), Arm("slow")]}, "names of their own"),
        ({"choose": "", "rates": (2, 4)}, "claim is made at rate 1"),
    ],
)
def test_a_declaration_with_a_mistake_is_refused(changes, said):
    with pytest.raises((ValueError, KeyError), match=said):
        toy(**changes)


def test_rates_are_searched_at_each_length_then_the_best_one_there_has_all_seeds():
    e = toy()
    searched = plan(e, [], chosen)
    assert set(searched) == {
        Key(arm, rate, length, seed)
        for arm in ("slow", "quick")
        for rate in (0.5, 1, 2, 4)
        for length in (10, 100)
        for seed in (1, 2)
    }
    claims = plan(e, searched, lambda arm, length: 1 if length == 10 else 2)
    assert {(key.length, key.rate) for key in claims} == {(10, 1), (100, 2)}
    assert len(claims) == 2 * (2 * 5 - 4)  # of each two were made in the search
    assert plan(e, [*searched, *claims], lambda arm, length: 1 if length == 10 else 2) == []


def test_one_arm_goes_on_while_another_is_still_searched():
    e = toy()
    searched = [key for key in plan(e, [], chosen) if key.arm == "slow"]
    planned = plan(e, searched, chosen)
    assert {key.rate for key in planned if key.arm == "slow"} == {1}
    assert {key.rate for key in planned if key.arm == "quick"} == {0.5, 1, 2, 4}


def test_without_a_choice_other_rates_have_few_seeds():
    planned = plan(toy(choose="", lengths=(10,)), [], chosen)
    by_rate = {rate: sum(key.rate == rate for key in planned) for rate in (0.5, 1, 2, 4)}
    assert by_rate == {0.5: 4, 1: 10, 2: 4, 4: 4}


def test_an_arm_may_have_seeds_and_rates_of_its_own():
    few = Arm("quick", seeds=(1, 2), rates=(1,))
    planned = plan(toy(choose="", arms=[Arm("slow"), few]), [], chosen)
    assert {(key.rate, key.seed) for key in planned if key.arm == "quick"} == {(1, 1), (1, 2)}
    assert {key.rate for key in planned if key.arm == "slow"} == {0.5, 1, 2, 4}


def test_options_ask_for_other_seeds_rates_and_lengths():
    for e in (toy(choose="", rates=(1,)), toy()):  # where rates are chosen, too
        planned = plan(e, [], chosen, arms=["quick"], seeds=[7], rates=[3], lengths=[50])
        assert planned == [Key("quick", 3, 50, 7)]


def test_an_arm_waits_for_the_run_that_it_starts_from():
    e = toy(choose="", rates=(1,), arms=[Arm("slow"), Arm("quick", starts_from="slow")])
    first = plan(e, [], chosen)
    assert {key.arm for key in first} == {"slow"}
    assert {key.seed for key in plan(e, first[:1], chosen) if key.arm == "quick"} == {1}


def test_the_fingerprint_follows_settings_and_code_by_name_and_nothing_else():
    e = toy()
    same = [
        toy(seeds=(1, 2), rates=(1, 2), lengths=(5,), question="?"),
        toy(arms=[Arm("slow", labels={"width": 3}, seeds=(1,), rates=(1,)), Arm("quick")]),
    ]
    other = [
        toy(arms=[Arm("slow", model={"d_ff": 2}), Arm("quick")]),
        toy(arms=[Arm("slow", model={"d_ff": 3}), Arm("quick")]),
        toy(arms=[Arm("slow", build=partial(made, width=2)), Arm("quick")]),
        toy(run=chosen),
    ]
    assert {one.fingerprint("slow") for one in same} == {e.fingerprint("slow")}
    assert len({one.fingerprint("slow") for one in [e, *other]}) == 5
    built = toy(arms=[replace(e.arms[0], build=partial(made, width=2)), Arm("quick")])
    assert built.fingerprint("slow") == "33aa3ce03c08"  # another would date every record


def test_where_run_folders_lie_is_no_part_of_a_declaration(tmp_path):
    one, other = (CommandLine("phrasebook", folder=tmp_path / name) for name in ("one", "other"))
    assert toy(task=one).fingerprint("slow") == toy(task=other).fingerprint("slow")


def test_where_nothing_else_is_said_ten_seeds_are_paired():
    e = Experiment(name="01-plain", question="?", task=Loaded(), arms=[Arm("a")])
    assert plan(e, [], chosen) == [Key("a", 1.0, 0, seed) for seed in range(1, 11)]
    assert str(Key("a")) == "a, rate ×1, length 0, seed 0"
