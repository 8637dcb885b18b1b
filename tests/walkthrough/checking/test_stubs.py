"""An exercise that nobody has begun is told from a function that lost its result."""

import pytest
from softmax_check import softmax_check


def docstring_only(scores):
    """Return the weights."""
    # your code here


def dots(scores): ...


def passes(scores):
    """Return the weights."""
    pass


def placeholder(scores):
    weights = None  # your code here
    return weights


def bare_return(scores):
    return


def raises(scores):
    raise NotImplementedError("your turn")


@pytest.mark.parametrize(
    "stub", [docstring_only, dots, passes, placeholder, bare_return, raises, lambda scores: ...]
)
def test_a_body_that_does_nothing_is_a_stub(stub):
    assert softmax_check()(stub).status == "nothing yet"


def forgets(scores):
    weights = scores.softmax(-1)  # noqa: F841


def loops(scores):
    found = []
    for row in scores:
        found.append(row.softmax(-1))


def nested(scores):
    def inner():
        return scores.softmax(-1)

    inner()


@pytest.mark.parametrize("function", [forgets, loops, nested])
def test_a_function_without_return_is_told_so(function):
    verdict = softmax_check()(function)
    assert verdict.status == "wrong"
    assert verdict.mistake == "no return"
    assert "computes, but returns nothing: is a `return` missing?" in verdict.message


def test_printing_is_not_returning():
    verdict = softmax_check()(lambda scores: print(scores.shape))
    assert verdict.status == "wrong"
    assert "prints and returns nothing" in verdict.message


def test_a_branch_without_return_is_told_by_its_case():
    said = softmax_check()(lambda s: s.softmax(-1) if len(s) == 3 else None).message
    assert "for a square your function returns nothing" in said
    assert "`return`" in said
