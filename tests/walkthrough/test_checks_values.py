"""Checks of values: a number, a choice."""

import pytest
import torch

from walkthrough.checks import ValueCheck, WrongValue, check_value
from walkthrough.checks.soundness import assert_check_is_sound

SCALE = ValueCheck(
    name="the scale for d_model 512 and 8 heads",
    expected=0.125,
    mistakes=[WrongValue(512**-0.5, "that is 1/√d_model; the scale is 1/√d_k")],
)
AXIS = ValueCheck(
    name="axis",
    expected="keys",
    choices=("keys", "queries"),
    mistakes=[WrongValue("queries", "no")],
)


@pytest.mark.parametrize("check", [SCALE, AXIS])
def test_value_checks_are_sound(check):
    assert_check_is_sound(check)


def test_value_checks_say_what_is_wrong():
    assert SCALE(0.125)
    assert SCALE(torch.tensor(0.125))
    assert SCALE(512**-0.5).message.startswith("that is 1/√d_model")
    assert SCALE(0.1).message == "0.1 is too small"
    assert SCALE(None).status == "nothing yet"
    assert SCALE(float("nan")).message == "yours is NaN (not a number)"
    assert SCALE(True).message == "a number is expected, yours is True"
    words = "a number is expected, yours is the text '0.125': leave out the quotes"
    assert SCALE("0.125").message == words
    assert AXIS(" Keys ")
    assert "'heads' is not a choice here" in AXIS("heads").message
    assert "shape" in check_value(torch.ones(2), torch.ones(3)).message


def test_value_mistakes_must_be_wrong():
    with pytest.raises(ValueError, match="must differ"):
        ValueCheck(name="one", expected=1, mistakes=[WrongValue(1.0, "…")])
    with pytest.raises(ValueError, match="not one of the choices"):
        ValueCheck(name="one", expected="a", choices=("b",))


def test_check_value_reads_a_mapping():
    said = {8: "that is the number of heads"}
    assert check_value(64, 64, mistakes=said).status == "right"
    assert check_value(8, 64, mistakes=said).message == said[8]
    assert check_value(None, 64).status == "nothing yet"
    assert check_value(True, 1).status == "wrong"
