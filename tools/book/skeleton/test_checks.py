"""The checks of chapter {{number}} accept what is right and name what is wrong."""

import pytest
from soundness import assert_check_is_sound

from walkthrough.{{room}} import checks

ALL = [checks.name]


@pytest.mark.parametrize("check", ALL, ids=lambda check: check.name)
def test_check_names_every_mistake_it_lists(check):
    assert_check_is_sound(check)


def test_an_answer_in_other_words_is_right():
    def name(numbers):
        total = 0.0
        for number in numbers:
            total += number / len(numbers)
        return total

    assert checks.name(name)
