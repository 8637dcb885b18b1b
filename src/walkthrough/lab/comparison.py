"""One comparison for everything that is said: pairs by seed, an interval, a verdict by rules.

The rules, in this order: fewer than five pairs (six of a skewed measure) → "too few seeds"; base
within 3 points of the best there can be, and ours within 3 of base → "ceiling"; interval around 0 →
"level" if all of it lies within ± margin, else "not told apart". What stands out is told as far as
the rates go: an arm with "one rate", "not the best rate" (that has too few seeds), the best one at
the "edge of the rates", or neighbours of it further than a factor of two ("coarse rates"). Then,
where the other side stands out as well: "turns with the rate" at the next one, "turns with the
length" at another, "depends on the measure" by another measure of the same runs. Else "better at
this rate" where one was asked for; "better only at the best rates" or "only at this length" where
the mean points the other way elsewhere; else "better". And so for "worse".
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from walkthrough.lab import store
from walkthrough.lab.experiment import Experiment
from walkthrough.lab.intervals import FEWEST_PAIRS, LEVEL, Point, over_sentences, point, widened
from walkthrough.lab.keys import Key, Number
from walkthrough.lab.measures import Scale, comparable, scale_of
from walkthrough.lab.rates import Best, Fault, best_rate
from walkthrough.lab.store import Run

Verdict = str
"""One of those named above."""
FEWEST_TO_TURN = 3
"""Pairs at another rate or length that say anything of the sign there."""
NEAR_THE_BEST = 3.0


class Beside(NamedTuple):
    """Another figure that tells the same runs apart: its difference in words, and which side."""

    figure: str
    effect: str
    side: str


@dataclass(frozen=True)
class Comparison:
    """Ours minus base, pair by pair, in `unit`: per cent of a perplexity, points, nats.

    `levels` are the means of (ours, base) in the figure itself, `rates` their multiples, `of_rates`
    from how many each was chosen (0: they were asked for). `low` and `high` have the variance of
    sentences in them where counts are kept. `beside` are the other figures that stand out.
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
    p: float
    levels: tuple[Number, Number]
    rates: tuple[Number, Number]
    of_rates: tuple[int, int]
    length: int
    by_rate: tuple[Point, ...]
    by_length: tuple[Point, ...]
    beside: tuple[Beside, ...]
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
    def side(self) -> str:
        """Which side stands out, whatever the verdict is: "better", "worse" or ""."""
        if not (self.low > 0 or self.high < 0):
            return ""
        return "better" if self._gain(self.mean) > 0 else "worse"

    @property
    def by(self) -> str:
        """The figure in words: "perplexity on valid", "exact on test sentences, greedy"."""
        return in_words(self.figure)

    @property
    def effect(self) -> str:
        """The mean difference in words: "1.4 per cent worse"."""
        return _effect(self._gain(self.mean), self.unit)

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
    def at_rates(self) -> str:
        """The rates of both arms in words, and from how many each was chosen."""
        (ours, base), (n, m) = (f"×{rate:g}" for rate in self.rates), self.of_rates
        if not self.length:
            return ""
        if n == m and ours == base:
            return f"both at {ours}" + (f", the best of {_number(n)}" if n > 1 else "")
        return f"at {ours} of {_number(n)} and {base} of {_number(m)} rates"

    def phrase(self) -> str:
        """Return the finding in words, to end a sentence: "1.4 per cent worse (0.7 to 2.0, …)"."""
        how = ", ".join(filter(None, (self.interval, f"{self.pairs} pairs", self.at_rates)))
        if self.verdict == "too few seeds":
            return f"{self.effect} on average ({how}: too few for an interval)"
        told = f"{self.effect} ({how})"
        if self.verdict.split()[0] in ("better", "worse"):
            return told
        reason = {
            "ceiling": f"no room to tell: base stands at {self.levels[1]:.4g}",
            "level": "no difference worth naming",
            "not told apart": "no difference that these runs can see",
            "one rate": "at one rate, which nobody knows to be the best",
            "not the best rate": "another rate is better, with too few seeds to compare",
            "edge of the rates": "the best rate has no neighbour on one side",
            "coarse rates": "the rates beside the best one lie too far from it",
        }.get(self.verdict, self.verdict)
        return f"{reason}; {told}"

    def _gain(self, difference: Number) -> Number:
        return -difference if self.lower_is_better else difference


def in_words(figure: str) -> str:
    """Return a figure's name as a sentence says it."""
    split, decode, measure = figure.replace("_", " ").split("/")
    return f"{measure} on {split}" + ("" if decode == "-" else f", {decode}")


def compare(
    experiment: Experiment | str,
    ours: str,
    base: str | None = None,
    *,
    figure: str,
    length: int | None = None,
    rate: Number | None = None,
    margin: Number | None = None,
    record: Path | None = None,
) -> Comparison:
    """Compare two arms by a figure, each at its best rate (or both at `rate`), pair by pair.

    The best rates are those of this figure at this length (`lab.rates`). `margin`, in the unit of
    the comparison, is how much is no difference.

    Raises:
        KeyError: no such experiment, arm or figure.
        ValueError: no runs, or no pair of them.
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
    pair, length = _Pair(e, (ours, base), runs), e.lengths[-1] if length is None else length
    best = pair.best(figure, length, rate)
    rates = (best[0].rate, best[1].rate)
    seeds, values = pair.values(rates, length, figure)
    if not seeds:
        raise ValueError(
            f"{e.name}: no seed has both {ours!r} at rate ×{rates[0]:g} and {base!r} at rate "
            f"×{rates[1]:g} at length {length}"
        )
    scale = scale_of(figure)
    sides = [
        [store.counts(path, Key(arm, at_rate, length, seed), figure) for seed in seeds]
        for arm, at_rate in zip((ours, base), rates, strict=True)
    ]
    at = widened(pair.point(0, rates, length, figure), over_sentences(sides, figure, scale))
    by_rate = pair.by_rate(length, figure)
    by_length = pair.by_length(figure, rate)
    beside = pair.beside(rates, length, figure)
    levels = (fmean(a for a, _ in values), fmean(b for _, b in values))
    near = _neighbours(rates, [p.x for p in by_rate])
    return Comparison(
        experiment=e.name,
        ours=ours,
        base=base,
        figure=figure,
        unit=scale.unit,
        lower_is_better=scale.lower_is_better,
        seeds=tuple(seeds),
        differences=tuple(scale.of(a) - scale.of(b) for a, b in values),
        mean=at.mean,
        low=at.low,
        high=at.high,
        p=at.p,
        levels=levels,
        rates=rates,
        of_rates=(best[0].of, best[1].of),
        length=length,
        by_rate=tuple(by_rate),
        by_length=tuple(point for point, _ in by_length),
        beside=tuple(beside),
        verdict=verdict_of(
            at,
            base_level=scale.of(levels[1]),
            scale=scale,
            fault=best[0].fault or best[1].fault,
            asked=rate is not None,
            neighbours=[p for p in by_rate if p.x in near],
            lengths=[p for p, sound in by_length if sound and p.x != length],
            beside=beside,
            margin=margin,
        ),
    )


def verdict_of(
    at: Point,
    *,
    base_level: Number,
    scale: Scale,
    fault: Fault = "",
    asked: bool = False,
    neighbours: Iterable[Point] = (),
    lengths: Iterable[Point] = (),
    beside: Iterable[Beside] = (),
    margin: Number | None = None,
) -> Verdict:
    """Return the verdict by the rules at the top of this module; all in the unit of the scale.

    `fault` is what the rates lack; `asked` says that a rate was asked for.
    """
    if at.n < FEWEST_PAIRS or math.isnan(at.low):
        return "too few seeds"
    if scale.best is not None:
        room = abs(base_level - scale.best)
        if room <= NEAR_THE_BEST and abs(at.mean) <= NEAR_THE_BEST:
            return "ceiling"
    if not at.stands_out and (margin is None or max(-at.low, at.high) > margin):
        return "not told apart"
    if fault:
        return fault
    if not at.stands_out:
        return "level"
    side = "better" if (at.mean < 0) == scale.lower_is_better else "worse"
    rates, others = (
        [p for p in points if p.n >= FEWEST_TO_TURN and p.mean * at.mean < 0]
        for points in (neighbours, lengths)
    )
    if any(p.stands_out for p in rates):
        return "turns with the rate"
    if any(p.stands_out for p in others):
        return "turns with the length"
    if any(measure.side != side for measure in beside):
        return "depends on the measure"
    if asked:
        return f"{side} at this rate"
    if rates:
        return f"{side} only at the best rates"
    return f"{side} only at this length" if others else side


def holm(comparisons: Iterable[Comparison]) -> list[Comparison]:
    """Return the comparisons of one claim, told apart only as far as all may be wrong at 5 %.

    By Holm: of m the smallest p is held to 5 % / m, the next to 5 % / (m − 1), and so on; from the
    first that fails on, none is told apart. Those with too few seeds tell nothing apart anyway.
    """
    rows = list(comparisons)
    tested = [n for n, row in enumerate(rows) if row.verdict != "too few seeds"]
    stands = True
    for rank, n in enumerate(sorted(tested, key=lambda n: rows[n].p)):
        stands = stands and rows[n].p <= (1 - LEVEL) / (len(tested) - rank)
        if not stands and rows[n].side:
            rows[n] = replace(rows[n], verdict="not told apart")
    return rows


# Rates, lengths, figures -------------------------------------------------------------------------


class _Pair(NamedTuple):
    """Two arms and all runs of an experiment."""

    experiment: Experiment
    arms: tuple[str, str]
    runs: Mapping[Key, Run]

    def best(self, figure: str, length: int, rate: Number | None) -> list[Best]:
        """The rate of each arm at a length: the best one, or `rate`."""
        if rate is not None:
            return [Best(rate, 1, "")] * 2
        e, runs = self.experiment, self.runs.values()
        return [best_rate(e, arm, runs, figure=figure, length=length) for arm in self.arms]

    def values(
        self, rates: tuple[Number, Number], length: int, figure: str
    ) -> tuple[list[int], list[tuple[Number, Number]]]:
        """The seeds that both arms have, and their values of a figure."""
        sides = [
            {
                key.seed: run.figures[figure]
                for key, run in self.runs.items()
                if key[:3] == (arm, rate, length) and figure in run.figures
            }
            for arm, rate in zip(self.arms, rates, strict=True)
        ]
        seeds = sorted(set(sides[0]) & set(sides[1]))
        return seeds, [(sides[0][seed], sides[1][seed]) for seed in seeds]

    def point(self, x: Number, rates: tuple[Number, Number], length: int, figure: str) -> Point:
        """The difference at these rates and this length."""
        scale = scale_of(figure)
        _, pairs = self.values(rates, length, figure)
        return point(x, [scale.of(a) - scale.of(b) for a, b in pairs], scale)

    def by_rate(self, length: int, figure: str) -> list[Point]:
        """The difference at each rate that both arms have."""
        ours, theirs = (
            {k.rate for k in self.runs if k[0] == a and k.length == length} for a in self.arms
        )
        points = (self.point(r, (r, r), length, figure) for r in sorted(ours & theirs))
        return [at for at in points if at.n]

    def by_length(self, figure: str, rate: Number | None) -> list[tuple[Point, bool]]:
        """The difference at each length, at the best rates there, and whether these are sound."""
        points = []
        for length in sorted({key.length for key in self.runs if key.arm == self.arms[0]}):
            if any(k.arm == self.arms[1] and k.length == length for k in self.runs):
                ours, base = self.best(figure, length, rate)
                at = self.point(length, (ours.rate, base.rate), length, figure)
                points.append((at, not (ours.fault or base.fault)))
        return [(at, sound) for at, sound in points if at.n]

    def beside(self, rates: tuple[Number, Number], length: int, figure: str) -> list[Beside]:
        """What other measures say of the same runs, where they say anything."""
        others = []
        for name in dict.fromkeys(name for run in self.runs.values() for name in run.figures):
            if not comparable(name) or name.rpartition("/")[2] == figure.rpartition("/")[2]:
                continue
            at, scale = self.point(0, rates, length, name), scale_of(name)
            if at.stands_out and at.n >= FEWEST_PAIRS:
                gain = -at.mean if scale.lower_is_better else at.mean
                others.append(
                    Beside(name, _effect(gain, scale.unit), "better" if gain > 0 else "worse")
                )
        return others


def _neighbours(rates: tuple[Number, Number], grid: Sequence[Number]) -> set[Number]:
    """Return the next rates on both sides of the best ones.

    Not those between, where one of the arms is at its best and the other is not.
    """
    below, above = [r for r in grid if r < min(rates)], [r for r in grid if r > max(rates)]
    return {*below[-1:], *above[:1]}


def _experiment(experiment: Experiment | str) -> Experiment:
    if isinstance(experiment, Experiment):
        return experiment
    from walkthrough.lab.discovery import find

    return find(experiment)


def _effect(gain: Number, unit: str) -> str:
    return f"{abs(gain):{_digits(gain)}} {unit} {'better' if gain > 0 else 'worse'}"


def _digits(value: Number) -> str:
    return ".1f" if abs(value) >= 0.95 else ".2f"


def _number(n: int) -> str:
    words = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    return words[n] if n < len(words) else str(n)
