"""At which rate an arm is compared: its best one, by what is shown and at the length of it."""

import math
from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import Literal, NamedTuple

from walkthrough.lab.experiment import Experiment
from walkthrough.lab.intervals import FEWEST_PAIRS, point
from walkthrough.lab.keys import Number
from walkthrough.lab.measures import SCALES, scale_of
from walkthrough.lab.store import Run, resolve

Fault = Literal["", "one rate", "not the best rate", "edge of the rates", "coarse rates"]
LIKE_VALIDATION = ("test", "test_sentences")
"""Splits drawn as the validation sentences are: these may choose a rate for them."""
FEWEST_ALIKE, FEWEST_FLAT = 3, FEWEST_PAIRS
STEP = 2.0
"""How far from the best rate its neighbours may lie, as a factor."""


class Best(NamedTuple):
    """A rate, out of how many it was chosen, and why it is not told as the best one."""

    rate: Number
    of: int
    fault: Fault
    hint: str = ""


def best_rate(
    experiment: Experiment,
    arm: str,
    runs: Iterable[Run],
    *,
    figure: str = "",
    length: int | None = None,
) -> Best:
    """Return the rate at which a figure is best on average, over the seeds that all rates have.

    Without `figure` and `length` it is the one that the experiment chooses by, at its last length.
    Where `choose` is the validation's twin of a figure of a test set, the twin decides. A rate at
    which a run failed is the worst. Of rates that three seeds do not tell apart from the best one
    that with most runs is taken; where the best has too few to be compared, the best of those that
    have, as "not the best rate". Where five do not tell rates apart either, none of these is an
    edge to the others, or too far from them; of three rates that are all alike none is one.

    Raises:
        ValueError: the arm has no runs at this length.
    """
    e, length = experiment, experiment.lengths[-1] if length is None else length
    by_rate: dict[Number, dict[int, Run]] = {}
    for run in runs:
        if run.arm == arm and run.length == length:
            by_rate.setdefault(run.rate, {})[run.seed] = run
    if not by_rate:
        raise ValueError(f"{e.name}: {arm!r} has no runs at length {length}")
    few = {r: of for r, of in by_rate.items() if set(e.rate_seeds) <= set(of)}
    compared = few if len(few) > 1 else by_rate
    seeds = set.intersection(*map(set, compared.values()))
    if len(compared) == 1 or not seeds or not (figure or e.choose):
        most = max(by_rate, key=lambda rate: len(by_rate[rate]))
        return Best(most, 1, "" if length == 0 or e.no_rate else "one rate", f"add {most * 2:g}")
    name = _decides(
        e, figure, {n for of in compared.values() for r in of.values() for n in r.figures}
    )
    scale = scale_of(name)
    sign = -1 if scale.lower_is_better else 1
    gains = {
        rate: [
            sign * scale.of(value)
            if (value := of[seed].figures.get(name)) is not None
            else -math.inf
            for seed in sorted(seeds)
        ]
        for rate, of in sorted(compared.items())
    }
    grid, top = list(gains), max(fmean(of) for of in gains.values())
    equal = [rate for rate in grid if fmean(gains[rate]) == top]
    best = equal[(len(equal) - 1) // 2]
    alike = {r for r in grid if r == best or _alike(gains[r], gains[best], FEWEST_ALIKE)}
    flat = {r for r in alike if r == best or _alike(gains[r], gains[best], FEWEST_FLAT)}
    taken = max(sorted(alike), key=lambda rate: (len(by_rate[rate]), rate == best))
    rich = [rate for rate in grid if len(by_rate[rate]) >= FEWEST_PAIRS]
    if rich and taken not in rich:  # what has been compared stands at another rate
        most = max(rich, key=lambda rate: fmean(gains[rate]))
        return Best(most, len(grid), "not the best rate", f"run all seeds at {taken:g}")
    if flat.issuperset(grid) and len(grid) > 2:
        return Best(taken, len(grid), "")
    place = grid.index(taken if taken in flat else best)
    if place in (0, len(grid) - 1):
        further = grid[place] / STEP if place == 0 else grid[place] * STEP
        return Best(taken, len(grid), "edge of the rates", f"add {further:g}")
    for beside in {grid[place - 1], grid[place + 1]} - flat:
        if not 1 / STEP - 1e-9 <= beside / grid[place] <= STEP + 1e-9:
            between = f"add {math.sqrt(beside * grid[place]):.2g}"
            return Best(taken, len(grid), "coarse rates", between)
    return Best(taken, len(grid), "")


def _alike(gains: Sequence[float], best: Sequence[float], fewest: int) -> bool:
    """Whether so many seeds or more do not tell a rate apart from the best one."""
    if len(gains) < fewest or not all(map(math.isfinite, gains)):
        return False
    gap = point(0, [a - b for a, b in zip(gains, best, strict=True)], SCALES["exact"])
    return not gap.stands_out


def _decides(experiment: Experiment, figure: str, known: Iterable[str]) -> str:
    """Return the figure by which a rate is chosen for what is shown."""
    if not experiment.choose:
        return figure
    chosen = resolve(experiment.choose, known)
    split, _, rest = figure.partition("/")
    twin = split in LIKE_VALIDATION and chosen.partition("/")[2] == rest
    return chosen if twin or not figure else figure
