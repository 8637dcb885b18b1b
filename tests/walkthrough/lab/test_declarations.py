"""Every declared experiment runs with a seed, rate and length that nobody declared."""

import pytest

from walkthrough.lab import Key, live, runner
from walkthrough.lab.discovery import declarations
from walkthrough.lab.hooks import CommandLine

ALL = list(declarations().values())
FETCHED = ("18-grammars", "19-caption-heads")
"""Those whose corpus is not in the package."""


@pytest.mark.slow
@pytest.mark.parametrize("e", ALL, ids=[e.name for e in ALL])
def test_it_runs_with_what_nobody_declared(e):
    if isinstance(e.task, CommandLine) or e.name in FETCHED:
        pytest.skip("needs a corpus that is fetched")
    key = Key(e.arms[0].name, 0.7, min(2, e.lengths[-1]), 99)
    _, outcome = runner.execute(e, key, small=True)
    assert not isinstance(outcome, str), outcome
    assert outcome.figures
    assert set(e.figures(key.seed)) <= set(outcome.figures)


def test_runs_that_seeds_make_together_are_made_alone_for_another_seed():
    table = live("12-sweep", "baseline", seeds=(1,), length=2)
    assert (table["run"] == "now").sum() == 1


@pytest.mark.parametrize("e", ALL, ids=[e.name for e in ALL])
def test_each_names_the_rival_that_knows_nothing_or_says_why_there_is_none(e):
    assert e.rival in {arm.name for arm in e.arms} or e.rival.count(" ") >= 3
    assert not e.no_rate or e.no_rate.count(" ") >= 3
