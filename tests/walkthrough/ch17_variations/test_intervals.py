"""Intervals: the numbers of a table of Student's t, and what the short cuts keep."""

import pytest

from walkthrough.ch17_variations.intervals import coverage, t_factor


@pytest.mark.parametrize(
    ("n", "t"), [(2, 12.706), (3, 4.303), (5, 2.776), (10, 2.262), (2000, 1.961)]
)
def test_t_is_that_of_the_tables(n, t):
    assert t_factor(n) == pytest.approx(t, abs=1e-3)


def test_one_value_has_no_interval():
    with pytest.raises(ValueError, match="at least two"):
        t_factor(1)


def test_only_t_keeps_what_it_says_for_five():
    shares = coverage(5)
    assert 0.935 < shares["t"] < 0.965
    assert shares["bootstrap"] < shares["1.96 for t"] < 0.9
