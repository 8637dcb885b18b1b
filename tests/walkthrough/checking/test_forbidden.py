"""A right result that was found with what the exercise forbids is wrong, and told why."""

import functools

import pytest
import torch
import torch.nn.functional as F
from softmax_check import softmax_check, softmax_over_keys, softmax_over_queries
from soundness import assert_check_is_sound
from torch import nn

import phrasebook
import transformer
from walkthrough import checking
from walkthrough.checking import Forbidden, Mistake
from walkthrough.checking.whose import is_readers

WITHOUT = {"forbidden": [torch.softmax, nn.Softmax]}


@pytest.mark.parametrize(
    "function",
    [
        lambda s: torch.softmax(s, -1),
        lambda s: F.softmax(s, dim=-1),
        lambda s: s.softmax(-1),
        lambda s: nn.Softmax(-1)(s),
        lambda s: torch.stack([row.softmax(-1) for row in s]),
        functools.partial(torch.softmax, dim=-1),
        functools.partial(F.softmax, dim=-1),
    ],
)
def test_the_same_operation_under_its_other_names_is_seen(function):
    verdict = softmax_check(**WITHOUT)(function)
    assert verdict.status == "wrong"
    assert verdict.mistake == "forbidden"
    assert verdict.message.startswith("the result is right, but your function calls `")


def test_a_helper_of_the_readers_is_looked_into():
    def helper(row):
        return row.softmax(-1)

    assert not softmax_check(**WITHOUT)(lambda s: torch.stack(list(map(helper, s))))


def by_hand(s):
    return s.exp() / s.exp().sum(-1, keepdim=True)


def softmax(s):
    return by_hand(s)


@pytest.mark.parametrize("function", [by_hand, softmax, lambda s: softmax(s)])
def test_code_that_does_without_is_right(function):
    """A function of the reader's own may have a forbidden name."""
    assert softmax_check(**WITHOUT)(function)
    assert softmax_check(forbidden=["softmax"])(function)


def test_only_what_no_library_and_no_package_of_ours_holds_is_the_readers():
    assert is_readers(__file__)
    for package in (torch, transformer, phrasebook, checking):
        assert not is_readers(package.__file__)


def test_what_a_library_calls_within_is_free():
    inside = softmax_check(forbidden=[torch.Tensor.exp])
    assert inside(softmax_over_keys)
    assert not inside(by_hand)


def test_a_name_is_forbidden_everywhere_or_in_one_library():
    def smallest(s):
        min(1, 2)
        return s.softmax(-1)

    def smallest_of_torch(s):
        torch.min(s)
        return s.softmax(-1)

    for forbidden, python, of_torch in [("min", 0, 0), ("torch.min", 1, 0), (min, 0, 1)]:
        check = softmax_check(forbidden=[forbidden])
        assert [bool(check(smallest)), bool(check(smallest_of_torch))] == [python, of_torch]


def test_a_sentence_of_its_own_is_said():
    check = softmax_check(forbidden=[Forbidden(torch.softmax, "write exp and sum yourself.")])
    said = check(lambda s: s.softmax(-1)).message
    assert said.endswith("your function calls `softmax`: write exp and sum yourself.")


def over_queries(s):
    return s.exp() / s.exp().sum(-2, keepdim=True)


def test_a_wrong_result_is_told_one_cause_at_a_time():
    named = softmax_check(**WITHOUT, mistakes=[Mistake("axis", over_queries, "the axis.")])
    assert named(lambda s: softmax_over_queries(s)).message == "the axis."
    unclear = softmax_check(**WITHOUT, mistakes=[])(lambda s: softmax_over_queries(s)).message
    assert "Besides, your function calls `softmax`" in unclear


def test_watching_leaves_no_trace():
    before = __import__("sys").getprofile()
    softmax_check(**WITHOUT)(softmax_over_keys)
    assert __import__("sys").getprofile() is before


@pytest.mark.parametrize(
    "forbidden",
    [torch.softmax, F.softmax, "softmax", "torch.softmax", nn.Softmax, min, sorted, list.sort],
)
def test_checks_that_forbid_are_sound(forbidden):
    assert_check_is_sound(softmax_check(forbidden=[forbidden], reference=by_hand))


def test_the_proof_rejects_a_rule_that_sees_nothing():
    with pytest.raises(AssertionError, match="does not see a call of"):
        assert_check_is_sound(softmax_check(reference=by_hand, forbidden=[int]))
