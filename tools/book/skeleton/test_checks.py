"""The checks of chapter {{number}} accept what is right and name what is wrong."""

import pytest

from walkthrough.{{room}} import checks
from walkthrough.checking.soundness import assert_check_is_sound

ALL = [checks.name]


@pytest.mark.parametrize("check", ALL, ids=lambda check: check.name)
def test_check_names_every_mistake_it_lists(check):
    assert_check_is_sound(check)
