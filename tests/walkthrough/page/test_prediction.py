"""Predictions: what they show, and what is refused."""

import re
from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace

import pytest

from walkthrough.page.prediction import Choice, Prediction

CHOICES = (
    Choice("*rows*", "Rows sum to 1, see `dim=-1`.", right=True),
    Choice("columns", "Each key would share itself out."),
    Choice("both < 1", "They do not."),
)


def prediction(
    name: str = "02-axis", question: str = "What sums to 1?", choices: Sequence[Choice] = CHOICES
) -> Prediction:
    return Prediction(name, question, tuple(choices))


def test_plain_text_asks_and_does_not_tell() -> None:
    told = repr(prediction())
    assert told == "Predict: What sums to 1?\n  a) rows\n  b) columns\n  c) both < 1"
    assert "dim" not in told


def test_every_choice_answers_for_itself() -> None:
    page = prediction()._repr_html_()
    found = re.findall(r'<details class="(\w+)"><summary>(.*?)</summary><p>(.*?)</p>', page)
    assert found == [
        ("right", "<em>rows</em>", "<b>Right.</b> Rows sum to 1, see <code>dim=-1</code>."),
        ("wrong", "columns", "<b>Not so.</b> Each key would share itself out."),
        ("wrong", "both &lt; 1", "<b>Not so.</b> They do not."),
    ]
    assert 'data-prediction="02-axis"' in page
    assert 'aria-labelledby="prediction-02-axis"' in page
    assert 'id="prediction-02-axis"' in page


@pytest.mark.parametrize(
    ("verdict", "right"),
    [("worse", "rows"), ("level", "columns"), ("not told apart", "columns"), ("better", "both")],
)
def test_what_is_given_decides_which_choice_is_right(verdict: str, right: str) -> None:
    whens = ("worse", ("level", "not told apart"), lambda found: found.verdict == "better")
    asked = [replace(c, right=False, when=w) for c, w in zip(CHOICES, whens, strict=True)]
    given = (SimpleNamespace(verdict=verdict),)
    told = Prediction("02-axis", "What sums to 1?", tuple(asked), given)
    assert [choice.text.strip("*").split()[0] for choice in told.choices if choice.right] == [right]
    with pytest.raises(ValueError, match="exactly one choice is right, got \\[\\]"):
        replace(told, choices=tuple(asked), given=(SimpleNamespace(verdict="ceiling"),))
    for typed, beside in ((CHOICES, given), (asked, ())):
        with pytest.raises(ValueError, match="`right` is typed, or `when` asks"):
            Prediction("02-axis", "What sums to 1?", tuple(typed), beside)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": "axis"}, 'name must look like "02-axis", got "axis"'),
        ({"name": "02-Axis"}, "name must look like"),
        ({"question": "Say it."}, "a question ends with"),
        ({"choices": CHOICES[:2]}, "3 or 4 choices, got 2"),
        ({"choices": [*CHOICES, *CHOICES]}, "3 or 4 choices, got 6"),
        ({"choices": [CHOICES[1], CHOICES[2], Choice("no", "No.")]}, "exactly one choice is right"),
        ({"choices": [*CHOICES, Choice("x", "X.", right=True)]}, "exactly one choice is right"),
        ({"choices": [*CHOICES, Choice("columns", "Other.")]}, "same text"),
        ({"choices": [*CHOICES, Choice("x", "They do not.")]}, "same reply"),
        ({"choices": [*CHOICES, Choice("x", "perhaps")]}, "a reply is a sentence"),
    ],
)
def test_what_no_reader_could_answer_is_refused(change: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        prediction(**change)
