"""Answers that nobody foresaw: none of them passes, nine in ten are told more than two numbers.

The checks of this set know no mistake at all. What they say comes from the relations alone.
"""

import pytest
from jaxtyping import config
from wrong_lists import LISTS
from wrong_numbers import NUMBERS
from wrong_tensors import TENSORS

from walkthrough.checking.relations import arguments

SET = [*TENSORS, *NUMBERS, *LISTS]
ANSWERS = [(check, label, wrong) for check, answers in SET for label, wrong in answers.items()]
NO_CAUSE = "wrong for every input tried"  # then follow two numbers
CAUSES = ("is missing", "is expected, your result is", "not asked for", "yours are floats")


@pytest.fixture(scope="module")
def verdicts():
    """As readers have them, without enforced shapes, and with time to search on a slow machine."""
    config.update("jaxtyping_disable", True)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("SECONDS", "SECONDS_A_CALL"):
            patch.setattr(arguments, name, 5 * getattr(arguments, name))
        try:
            return [(check.name, label, check(wrong)) for check, label, wrong in ANSWERS]
        finally:
            config.update("jaxtyping_disable", False)


@pytest.mark.parametrize("check", [check for check, _ in SET], ids=lambda check: check.name)
def test_the_reference_is_right(check):
    assert check(check.reference)


def test_no_wrong_answer_is_accepted(verdicts):
    assert [(name, label) for name, label, verdict in verdicts if verdict.status != "wrong"] == []


def test_nine_in_ten_are_told_a_relation_or_the_case_that_fails(verdicts):
    told = [
        not verdict.message.startswith(NO_CAUSE) or any(x in verdict.message for x in CAUSES)
        for _, _, verdict in verdicts
    ]
    assert len(SET) >= 25
    assert min(len(answers) for _, answers in SET) >= 10
    assert sum(told) / len(told) >= 0.9


def test_every_verdict_is_short(verdicts):
    """A few sentences, two lines of them with numbers at most."""
    long = [(name, label) for name, label, v in verdicts if len(v.message) > 420]
    assert long == []
