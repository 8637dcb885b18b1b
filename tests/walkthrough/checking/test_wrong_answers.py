"""Answers that nobody foresaw: none of them passes, and hardly one is told two numbers alone."""

import pytest
from soundness import as_readers_have_it
from wrong_answers import ANSWERS


@pytest.fixture(scope="module")
def verdicts():
    """Check, label and verdict."""
    with as_readers_have_it():
        return [
            (check.name, label, check(wrong))
            for check, answers in ANSWERS
            for label, wrong in answers.items()
        ]


def test_no_wrong_answer_is_accepted(verdicts):
    assert [(name, label) for name, label, verdict in verdicts if verdict.status != "wrong"] == []


def test_hardly_an_answer_is_told_two_numbers_alone(verdicts):
    """Told are a mistake, a case, a place, a relation, or a call that one can follow by hand."""
    bare = [
        (name, label, verdict.message)
        for name, label, verdict in verdicts
        if verdict.message.startswith("wrong for") and "` gives" not in verdict.message
    ]
    assert len(bare) <= 0.03 * len(verdicts), bare


def test_every_verdict_is_short(verdicts):
    assert [(name, label) for name, label, v in verdicts if len(v.message) > 500] == []
