"""One comparison for everything that is said: pairs by seed, an interval, a verdict by rules.

The rules, in this order: fewer than five pairs → "too few seeds"; base within 3 points of the best
there can be, and ours within 3 of base → "ceiling"; another sign at a neighbouring rate → "turns
with the rate"; at another length → "turns with the length"; interval outside 0 → "better" or
"worse"; whole interval within ± margin → "level"; else "not told apart". A sign counts as another
one only where one of the two differences stands out: two that hold 0 do not contradict each other.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, Literal, NamedTuple

import numpy as np

from walkthrough.lab import store
from walkthrough.lab.experiment import Experiment, Key, Number
from walkthrough.lab.measures import SCORES, Scale, scale_of
from walkthrough.lab.store import Run

Verdict = Literal[
    "too few seeds",
    "ceiling",
    "turns with the rate",
    "turns with the length",
    "better",
    "worse",
    "level",
    "not told apart",
]
FEWEST_PAIRS = 5
NEAR_THE_BEST = 3.0
LEVEL = 0.95
DRAWS = 1000


class Point(NamedTuple):
    """The mean difference at a rate or a length, with its interval (NaN for one pair)."""

    x: Number
    mean: Number
    low: Number
    high: Number
    n: int

    @property
    def stands_out(self) -> bool:
        """Whether the interval leaves 0 out."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True)
class Comparison:
    """Ours minus base, pair by pair, in `unit`: per cent of a perplexity, points, nats.

    `levels` are the means of (ours, base) in the figure itself, `rates` their multiples, `of_rates`
    from how many these were chosen. `sentences` is the interval over sentences, where counts are
    kept; `low` and `high` are the wider of the two.
    """

    experiment: str
    ours: str
    base: str
    figure: str
    unit: str
    lower_is_better: bool
    seeds: tuple[int, ...]
    differences: tuple[Number, ...]
    mean: Number
    low: Number
    high: Number
    sentences: tuple[float, float] | None
    levels: tuple[Number, Number]
    rates: tuple[Number, Number]
    of_rates: int
    length: int
    by_rate: tuple[Point, ...]
    by_length: tuple[Point, ...]
    verdict: Verdict

    @property
    def n(self) -> int:
        """The number of pairs."""
        return len(self.differences)

    @property
    def wins(self) -> int:
        """In how many pairs ours is better."""
        return sum(self._gain(difference) > 0 for difference in self.differences)

    @property
    def by(self) -> str:
        """The figure in words: "perplexity on valid", "exact on test sentences, greedy"."""
        split, decode, measure = self.figure.replace("_", " ").split("/")
        return f"{measure} on {split}" + ("" if decode == "-" else f", {decode}")

    @property
    def effect(self) -> str:
        """The mean difference in words: "1.4 per cent worse"."""
        gain = self._gain(self.mean)
        return f"{abs(gain):{_digits(gain)}} {self.unit} {'better' if gain > 0 else 'worse'}"

    @property
    def interval(self) -> str:
        """The ends of the interval, in the direction of the effect; none below five pairs."""
        if self.verdict == "too few seeds":
            return ""
        gain = self._gain(self.mean)
        sign = 1 if gain > 0 else -1
        low, high = sorted(sign * self._gain(end) for end in (self.low, self.high))
        return f"{low:{_digits(gain)}} to {high:{_digits(gain)}}".replace("-", "−")

    @property
    def pairs(self) -> str:
        """How many pairs agree with the mean: "9 of 10"."""
        agree = sum(difference * self.mean > 0 for difference in self.differences)
        return f"{agree} of {self.n}"

    @property
    def searched(self) -> str:
        """From how many rates each arm's was chosen, in words."""
        return f"at the best of {_number(self.of_rates)} rates" if self.of_rates > 1 else ""

    def phrase(self) -> str:
        """Return the finding in words, to end a sentence: "1.4 per cent worse (0.7 to 2.0, …)"."""
        how = ", ".join(filter(None, (self.interval, f"{self.pairs} pairs", self.searched)))
        if self.verdict == "too few seeds":
            return f"{self.effect} on average ({how}: too few for an interval)"
        told = f"{self.effect} ({how})"
        if self.verdict in ("better", "worse"):
            return told
        said = {
            "ceiling": f"no room to tell: base stands at {self.levels[1]:.4g}",
            "level": "no difference worth naming",
            "not told apart": "no difference that these runs can see",
        }.get(self.verdict, self.verdict)
        return f"{said}; {told}"

    def _gain(self, difference: Number) -> Number:
        return -difference if self.lower_is_better else difference


def compare(
    experiment: Experiment | str,
    ours: str,
    base: str | None = None,
    *,
    figure: str,
    length: int | None = None,
    rate: Number | None = None,
    only: Callable[[Key], bool] | None = None,
    margin: Number | None = None,
    family: int = 1,
    record: Path | None = None,
) -> Comparison:
    """Compare two arms by a figure, each at its best rate (or both at `rate`), pair by pair.

    `only` takes some runs alone, by their keys: a page tells what these show, whatever else has
    been run since. `margin`, in the unit of the comparison, is how much is no difference; `family`
    is how many comparisons share the 5 per cent.

    Raises:
        KeyError: no such experiment, arm or figure.
        ValueError: no runs, no pair of them, or a best rate at the edge of the grid.
    """
    e = _experiment(experiment)
    base = base or e.base
    if base is None:
        raise ValueError(f"{e.name} has no base: name the arm to compare {ours!r} with")
    for arm in (ours, base):
        e.arm(arm)
    path = record or store.path_of(e.name)
    runs = store.read(path, e.name)
    if not runs:
        raise ValueError(f"{e.name} has no runs in {path}: run it first")
    figure = store.resolve(figure, (name for run in runs.values() for name in run.figures))
    scale, inside = scale_of(figure), 1 - (1 - LEVEL) / family
    length = e.lengths[-1] if length is None else length
    best = [best_rate(e, arm, runs.values()) if rate is None else rate for arm in (ours, base)]
    if only:
        runs = {key: run for key, run in runs.items() if only(key)}
    rates = (best[0], best[1])

    def point(x: Number, rates: tuple[Number, Number], length: int) -> tuple[Point, list[int]]:
        seeds, pairs = _pairs(runs, (ours, base), rates, length, figure)
        values = [scale.of(a) - scale.of(b) for a, b in pairs]
        return _point(x, values, inside), seeds

    at, common = point(rates[0], rates, length)
    if not common:
        raise ValueError(f"{e.name}: no seed has both {ours!r} and {base!r} at length {length}")
    _, pairs = _pairs(runs, (ours, base), rates, length, figure)
    sides = [
        [store.counts(path, Key(arm, at_rate, length, seed), figure) for seed in common]
        for arm, at_rate in zip((ours, base), rates, strict=True)
    ]
    sentences = over_sentences(sides, figure, scale, inside)
    low, high = _wider((at.low, at.high), sentences)
    tried, others = ({key.rate for key in runs if key.arm == arm} for arm in (ours, base))
    shared = sorted(tried & others)
    searched = length if any(k.rate != rates[0] and k.length == length for k in runs) else None
    at_rates = [point(r, (r, r), searched or e.search_length)[0] for r in shared]
    at_lengths = [point(n, rates, n)[0] for n in sorted({key.length for key in runs})]
    by_rate = tuple(one for one in at_rates if one.n)
    by_length = tuple(one for one in at_lengths if one.n)
    levels = (fmean(a for a, _ in pairs), fmean(b for _, b in pairs))
    return Comparison(
        experiment=e.name,
        ours=ours,
        base=base,
        figure=figure,
        unit=scale.unit,
        lower_is_better=scale.lower_is_better,
        seeds=tuple(common),
        differences=tuple(scale.of(a) - scale.of(b) for a, b in pairs),
        mean=at.mean,
        low=low,
        high=high,
        sentences=sentences,
        levels=levels,
        rates=rates,
        of_rates=len(shared) if rate is None and e.choose else 1,
        length=length,
        by_rate=by_rate,
        by_length=by_length,
        verdict=verdict_of(
            Point(at.x, at.mean, low, high, at.n),
            base_level=scale.of(levels[1]),
            scale=scale,
            neighbours=[p for p in by_rate if p.x in _neighbours(rates, shared)],
            lengths=[p for p in by_length if p.x != length],
            margin=margin,
        ),
    )


def verdict_of(
    at: Point,
    *,
    base_level: Number,
    scale: Scale,
    neighbours: Iterable[Point] = (),
    lengths: Iterable[Point] = (),
    margin: Number | None = None,
) -> Verdict:
    """Return the verdict by the rules at the top of this module; all in the unit of the scale."""
    if at.n < FEWEST_PAIRS:
        return "too few seeds"
    if scale.best is not None:
        room = abs(base_level - scale.best)
        if room <= NEAR_THE_BEST and abs(at.mean) <= NEAR_THE_BEST:
            return "ceiling"
    if any(_turned(at, other) for other in neighbours):
        return "turns with the rate"
    if any(_turned(at, other) for other in lengths):
        return "turns with the length"
    if at.stands_out:
        return "better" if (at.mean < 0) == scale.lower_is_better else "worse"
    if margin is not None and -margin <= at.low and at.high <= margin:
        return "level"
    return "not told apart"


def best_rate(experiment: Experiment, arm: str, runs: Iterable[Run]) -> Number:
    """Return the rate at which an arm's chosen figure is best on average, over the seeds of all.

    A rate at which a run failed is the worst.

    Raises:
        ValueError: no rate has been searched, or the best one lies at the edge of the grid.
    """
    e = experiment
    if e.choose is None or len(e.rates) == 1:
        return e.rates[0] if len(e.rates) == 1 else 1.0
    searched = [r for r in runs if r.arm == arm and r.length == e.search_length]
    by_rate: dict[Number, dict[int, Run]] = {}
    for r in searched:
        by_rate.setdefault(r.rate, {})[r.seed] = r
    common = {r: found for r, found in by_rate.items() if set(e.rate_seeds) <= set(found)}
    seeds = set(e.rate_seeds) if common else set()
    if not seeds:  # a narrowed search: what every rate has
        common = by_rate
        seeds = set.intersection(*map(set, by_rate.values())) if by_rate else set()
    if len(common) < 2 or not seeds:
        raise ValueError(f"{e.name}: the rates of {arm!r} have not been searched")
    figure = store.resolve(e.choose.figure, (name for r in searched for name in r.figures))
    scale = scale_of(figure)
    worst = math.inf if scale.lower_is_better else -math.inf
    means = {
        rate: fmean(worst if found[s].failed else found[s].figures[figure] for s in seeds)
        for rate, found in common.items()
    }
    grid = sorted(means)
    best = (min if scale.lower_is_better else max)(grid, key=lambda rate: means[rate])
    if best in (grid[0], grid[-1]):
        further = best / 2 if best == grid[0] else best * 2
        raise ValueError(
            f"{e.name}: the best rate of {arm!r} is {best:g}, the edge of "
            f"{', '.join(f'{rate:g}' for rate in grid)}: add {further:g} to `rates`, or try "
            f"--arms {arm!r} --rates {further:g}"
        )
    return best


# Pairs, intervals --------------------------------------------------------------------------------


def _pairs(
    runs: Mapping[Key, Run],
    arms: tuple[str, str],
    rates: tuple[Number, Number],
    length: int,
    figure: str,
) -> tuple[list[int], list[tuple[Number, Number]]]:
    """Return the seeds that both arms have, and their values of a figure."""
    sides = [
        {
            key.seed: run.figures[figure]
            for key, run in runs.items()
            if key[:3] == (arm, rate, length) and figure in run.figures
        }
        for arm, rate in zip(arms, rates, strict=True)
    ]
    seeds = sorted(set(sides[0]) & set(sides[1]))
    return seeds, [(sides[0][seed], sides[1][seed]) for seed in seeds]


def _point(x: Number, values: Sequence[Number], inside: float) -> Point:
    if not values:
        return Point(x, math.nan, math.nan, math.nan, 0)
    if len(values) == 1:
        return Point(x, values[0], math.nan, math.nan, 1)
    if max(values) - min(values) <= 1e-9 * max(map(abs, values)):
        every = values[0]
        return Point(x, every, every, every, len(values))
    from scipy.stats import ttest_rel  # a second

    interval = ttest_rel(values, np.zeros(len(values))).confidence_interval(inside)
    return Point(x, fmean(values), float(interval.low), float(interval.high), len(values))


def over_sentences(
    sides: Sequence[Sequence[Any]], figure: str, scale: Scale, inside: float
) -> tuple[float, float] | None:
    """Return the interval over draws of sentences, the same for every run; None without counts."""
    score = SCORES.get(figure.rpartition("/")[2])
    if score is None or any(rows is None for side in sides for rows in side):
        return None
    from scipy.stats import bootstrap

    def difference(sentences: Any) -> float:
        ours, theirs = (_mean_score(side, sentences, score, scale) for side in sides)
        return ours - theirs

    found = bootstrap(
        (np.arange(len(sides[0][0])),),
        difference,
        n_resamples=DRAWS,
        confidence_level=inside,
        method="percentile",
        rng=np.random.default_rng(0),
    ).confidence_interval
    return float(found.low), float(found.high)


def _mean_score(
    side: Sequence[Any], sentences: Any, score: Callable[[Any], float], scale: Scale
) -> float:
    return fmean(scale.of(score(rows[sentences].sum(axis=0))) for rows in side)


def _wider(
    seeds: tuple[Number, Number], sentences: tuple[float, float] | None
) -> tuple[Number, Number]:
    if sentences is None or math.isnan(seeds[0]):
        return seeds
    return max(seeds, sentences, key=lambda ends: ends[1] - ends[0])


# Rates and lengths -------------------------------------------------------------------------------


def _neighbours(rates: tuple[Number, Number], grid: Sequence[Number]) -> set[Number]:
    """Return the rates next to both arms' best ones, and these themselves where they differ."""
    found = set(rates) if rates[0] != rates[1] else set()
    for best in rates:
        below, above = [r for r in grid if r < best], [r for r in grid if r > best]
        found |= {*below[-1:], *above[:1]}
    return found


def _turned(at: Point, other: Point) -> bool:
    return at.mean * other.mean < 0 and (at.stands_out or other.stands_out)


def _experiment(experiment: Experiment | str) -> Experiment:
    if isinstance(experiment, Experiment):
        return experiment
    from walkthrough.lab.discovery import find

    return find(experiment)


def _digits(value: Number) -> str:
    return ".1f" if abs(value) >= 0.95 else ".2f"


def _number(n: int) -> str:
    words = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    return words[n] if n < len(words) else str(n)
