"""All checks of the book are handed nonsense, and what they say of it is true."""

import pkgutil
from importlib import import_module

import pytest
import torch
from soundness import as_readers_have_it, assert_mistakes_are_worth_listing

import walkthrough
from walkthrough.checking import Check

ROOMS = [m.name for m in pkgutil.iter_modules(walkthrough.__path__) if m.name.startswith("ch")]
# what is seen of the call itself, or of a network that was never run
OTHERWISE_TRUE = ("forbidden", "changes its input", "no return", "never runs")
RELATED = ("the expected one", "opposite sign", "another order", "turned round", "too many comes")


def checks_of(room):
    try:
        module = import_module(f"walkthrough.{room}.checks")
    except ModuleNotFoundError:  # a chapter without exercises
        return []
    return [one for one in vars(module).values() if isinstance(one, Check)]


CHECKS = [(room[:4], check) for room in ROOMS for check in checks_of(room)]
IDS = [f"{room}-{check.name}" for room, check in CHECKS]


def leaves(value, change):
    """The same result with every number in it changed."""
    if isinstance(value, torch.Tensor):
        return change(value) if value.is_floating_point() else value
    if isinstance(value, float):
        return float(change(torch.tensor(value, dtype=torch.float64)))
    if isinstance(value, (list, tuple)):
        return type(value)(leaves(part, change) for part in value)
    if isinstance(value, dict):
        return {key: leaves(part, change) for key, part in value.items()}
    return value


def spoiled(check, change):
    """An answer that has the form of the right one, and nothing of its numbers."""

    def answer(*given):
        return leaves(check.reference(*given), change)

    answer.measures = True  # chapter 14 measures what an update does, its reference too
    return answer


NONSENSE = {
    "NaN": lambda x: torch.full_like(x, torch.nan),
    "a constant": lambda x: torch.full_like(x, 0.4321),
    "random": lambda x: torch.randn(x.shape, dtype=x.dtype),
}


@pytest.fixture(autouse=True, scope="module")
def without_enforced_shapes():
    with as_readers_have_it():
        yield


@pytest.mark.parametrize(("room", "check"), CHECKS, ids=IDS)
def test_nonsense_is_told_nothing_untrue(room, check):
    expected = [check._outcome(check.reference, place) for place in range(len(check.cases))]
    for name, change in NONSENSE.items():
        if check.agree(leaves(expected, change), expected):
            continue  # no floats in it
        answer = spoiled(check, change)
        verdict = check(answer)
        assert verdict.status == "wrong", name
        assert_mistake_is_made(check, verdict, answer)
        assert not [words for words in RELATED if words in verdict.message], (name, str(verdict))


@pytest.mark.parametrize(("room", "check"), CHECKS, ids=IDS)
def test_an_answer_to_another_question_is_told_nothing_untrue(room, check):
    neighbour = CHECKS[CHECKS.index((room, check)) - 1][1].reference
    for answer in (lambda *given: given[0], neighbour):
        verdict = check(answer)
        if verdict.status == "wrong" and verdict.mistake:
            assert_mistake_is_made(check, verdict, answer)


def assert_mistake_is_made(check, verdict, answer):
    """A mistake is named only where every case comes out as it would make it."""
    if verdict.mistake is None:
        return
    listed = [mistake for mistake in check.mistakes if mistake.name == verdict.mistake]
    if listed:
        assert check.names(listed[0], check.outcomes(answer))
    elif verdict.mistake not in OTHERWISE_TRUE:
        pytest.fail(f"a symptom is seen in nonsense: {verdict}")


@pytest.mark.parametrize(("room", "check"), CHECKS, ids=IDS)
def test_mistakes_are_few_and_each_says_more_than_is_found_without_it(room, check):
    assert_mistakes_are_worth_listing(check)
