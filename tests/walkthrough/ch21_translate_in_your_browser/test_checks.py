"""The checks of chapter 21 accept what is right and name what is wrong."""

import pytest

from walkthrough.ch21_translate_in_your_browser import checks
from walkthrough.checking.soundness import assert_check_is_sound

ALL = [checks.multiplications, checks.names_of, checks.greedy]


@pytest.mark.parametrize("check", ALL, ids=lambda check: check.name)
def test_check_names_every_mistake_it_lists(check):
    assert_check_is_sound(check)
