"""A count that is a sum of products is told which of its terms is wrong."""

import pytest

from walkthrough.checking.counts import CountTerms

TERMS = CountTerms(("n", "d"), {"n·d": "pairs", "d·d": "weights"}, steps=(1, 2), further=["n"])


def right(n, d):
    return 3 * n * d + d * d


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda n, d: 2 * n * d + d * d, "`n · d` is counted 2 times; 3 times is right (pairs)."),
        (lambda n, d: 3 * n * d, "`d · d` is not counted; once is right (weights)."),
        (lambda n, d: right(n, d) + n, "`n` is counted once, and does not belong there."),
    ],
)
def test_the_wrong_term_is_named(wrong, said):
    found = TERMS.said(wrong, right)
    assert said in found
    assert found.endswith("All other terms are right")


@pytest.mark.parametrize(
    "other", [right, lambda n, d: 2**n, lambda n, d: 0, lambda n, d: n / 0, lambda n, d: "a text"]
)
def test_what_is_right_or_no_such_sum_is_told_nothing(other):
    assert TERMS.said(other, right) is None
