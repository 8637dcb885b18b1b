"""Intervals: the numbers of a table of Student's t."""

import math

import pytest

from walkthrough.ch17_variations.intervals import t_factor, t_interval


@pytest.mark.parametrize(("n", "t"), [(2, 12.706), (3, 4.303), (5, 2.776), (10, 2.262)])
def test_t_is_that_of_the_tables(n, t):
    assert t_factor(n) == pytest.approx(t, abs=1e-3)


def test_t_for_another_share_and_for_many():
    assert t_factor(5, 0.99) == pytest.approx(4.604, abs=1e-3)
    assert t_factor(2000) == pytest.approx(1.961, abs=1e-3)


def test_an_interval_by_hand():
    found = t_interval([1.0, 2.0, 3.0])
    assert found.mean == 2.0
    assert found.high - 2.0 == pytest.approx(4.3027 / math.sqrt(3), abs=1e-4)
    assert (found.n, found.side) == (3, 0)
    assert t_interval([1.0, 1.1, 1.2]).side == 1
    assert t_interval([-1.0, -1.1, -1.2]).side == -1


@pytest.mark.parametrize("call", [lambda: t_interval([1.0]), lambda: t_factor(1)])
def test_one_value_has_no_interval(call):
    with pytest.raises(ValueError, match=r"at least (two|2)"):
        call()
