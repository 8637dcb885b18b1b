"""The checks of chapter 22 accept right answers and name every mistake they list."""

import pytest
import torch
from soundness import assert_check_is_sound

from walkthrough.ch22_since_2023 import checks

ALL = [checks.kept, checks.written, checks.corrected]


@pytest.mark.parametrize("check", ALL, ids=lambda check: check.name)
def test_check_rejects_and_names_each_mistake(check):
    assert_check_is_sound(check)


def test_other_right_ways_are_accepted():
    def written(guessed, best):
        right = [g == b for g, b in zip(guessed, best, strict=False)]
        return best[: (right.index(False) if False in right else len(right)) + 1]

    def corrected(state, key, value):
        return (torch.eye(len(key)) - torch.outer(key, key)) @ state + torch.outer(key, value)

    assert checks.written(written).status == "right"
    assert checks.corrected(corrected).status == "right"


def test_a_value_that_is_wiped_again_is_told_so():
    def corrected(state, key, value):
        state = state + torch.outer(key, value)
        return state - torch.outer(key, key @ state)

    assert "wiped as well" in checks.corrected(corrected).message
