"""Checks of values: a number of any kind, and what is said about a wrong one."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import torch
from soundness import assert_check_is_sound

from walkthrough.checking import ValueCheck, WrongValue

SCALE = ValueCheck(
    name="the scale for d_model 512 and 8 heads",
    expected=0.125,
    mistakes=[WrongValue(512**-0.5, "that is 1/√d_model; the scale is 1/√d_k")],
)


def test_value_checks_are_sound():
    assert_check_is_sound(SCALE)


@pytest.mark.parametrize(
    "answer",
    [
        0.125,
        torch.tensor(0.125),
        np.float32(0.125),
        np.array(0.125),
        Fraction(1, 8),
        Decimal("0.125"),
    ],
)
def test_a_number_of_any_kind_may_be_right(answer):
    assert SCALE(answer).status == "right"


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (512**-0.5, "that is 1/√d_model; the scale is 1/√d_k"),
        (0.1, "0.1 is too small"),
        (torch.tensor(0.25), "0.25 is too large: it is a factor of 2 off"),
        (np.float64(0.2500004), "0.25 is too large: it is a factor of 2 off"),
        (-0.125, "-0.125 is too small: it has the wrong sign"),
        (12.5, "12.5 is too large: it is in per cent; asked is a share"),
        (0.00125, "0.00125 is too small: asked is per cent, and this is a share"),
        (1.1250004, "1.125 is too large: it is one too large"),
        (10**30, "1e+30 is too large"),
        (float("inf"), "inf is too large"),
        (float("nan"), "yours is NaN (not a number)"),
        (True, "a number is expected, yours is True"),
        ("0.125", "a number is expected, yours is the text '0.125': leave out the quotes"),
        ([0.125], "a number is expected, your result is a list"),
        (torch.tensor([0.125] * 2), "a number is expected, yours has the shape (2,)"),
        (np.array(["a", "b"]), "a number is expected, your result is an array of NumPy"),
        (1j, "a number is expected, yours is the complex number 0+1j"),
    ],
)
def test_a_wrong_answer_is_told_what_is_wrong_and_not_the_answer(answer, words):
    verdict = SCALE(answer)
    assert verdict.status == "wrong"
    assert verdict.message == words


@pytest.mark.parametrize("by", [10, 24, 60, 1000, 3600, 86_400, 1_000_000])
def test_a_factor_is_told_whichever_way_it_is_off(by):
    assert f"is too large: it is a factor of {by} off" in SCALE(0.125 * by).message
    assert f"is too small: it is a factor of {by} off" in SCALE(0.125 / by).message


@pytest.mark.parametrize("stub", [None, ...])
def test_a_stub_is_nothing_yet(stub):
    assert str(SCALE(stub)).startswith("nothing yet – replace `None`")


def test_value_mistakes_must_be_wrong():
    with pytest.raises(ValueError, match="must differ"):
        ValueCheck(name="one", expected=1, mistakes=[WrongValue(1.0, "…")])
