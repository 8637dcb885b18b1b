"""A hundredth of a run of every cheap experiment gives the figures that are declared."""

import pytest

from walkthrough.lab import Key, runner, store
from walkthrough.lab.discovery import declarations
from walkthrough.lab.hooks import CommandLine

SHARE = 0.01
CHEAP = 3.0
"""Seconds that a hundredth of a run may take, by what the record says of the whole."""


def cheap():
    """The first arm of every experiment whose record says that it takes no time."""
    for e in declarations().values():
        runs, arm = store.read(store.path_of(e.name), e.name), e.arms[0].name
        known = [run for run in runs.values() if run.arm == arm and run.cpu_seconds]
        costs = [run.cpu_seconds * (SHARE if run.length else 1) for run in known]
        if costs and max(costs) < CHEAP and not isinstance(e.task, CommandLine):
            yield pytest.param(e, arm, id=f"{e.name}: {arm}")


@pytest.mark.slow
@pytest.mark.parametrize(("e", "arm"), list(cheap()))
def test_a_hundredth_of_it_runs(e, arm):
    length = e.lengths[-1] and max(1, round(SHARE * e.lengths[-1]))
    _, outcome = runner.execute(e, Key(arm, 1.0, length, e.seeds[0]), small=True)
    assert not isinstance(outcome, str), outcome
    assert set(e.figures(e.seeds[0])) <= set(outcome.figures)
    assert outcome.figures


def test_the_small_experiments_are_among_them():
    assert {one.values[0].name for one in cheap()} >= {"05-bends", "05-width"}
