"""The evidence card of a page: one small picture of a comparison, one sentence, links."""

import html
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from walkthrough.drawing.still import FONT_SIZE, PHONE, Still, canvas, still
from walkthrough.drawing.style import CATEGORIES
from walkthrough.lab.comparison import Comparison, compare, in_words
from walkthrough.lab.experiment import Experiment
from walkthrough.lab.intervals import Point
from walkthrough.lab.keys import Number
from walkthrough.page.links import BRANCH, REPOSITORY_URL

WIDTH, HEIGHT = 420, 205
GUIDE = "01-why-attention.html#how-to-read-an-experiment"
"""Where the pages of the book say what a card shows."""
_LETTER = 6.4  # px of a card's letters, one with another


@dataclass(frozen=True)
class Card:
    """A comparison as a page shows it; in a terminal it is its sentence."""

    comparison: Comparison
    sentence: str
    picture: Still

    def __repr__(self) -> str:
        return self.sentence

    def _repr_html_(self) -> str:
        record = f"results/{self.comparison.experiment}.jsonl"
        link = f"{REPOSITORY_URL}/blob/{BRANCH}/{record}"
        command = f"python -m walkthrough.lab run {self.comparison.experiment}"
        return (
            f'<figure class="evidence">{self.picture._repr_html_()}<figcaption>'
            f"<p>{html.escape(self.sentence)}</p>"
            f"{self._beside()}"
            f'<p><a href="{GUIDE}">How to read this</a> · '
            f'<a href="{link}">{html.escape(record)}</a> · <code>{command}</code></p>'
            "</figcaption></figure>"
        )

    def _beside(self) -> str:
        told = (f"{one.effect} by {in_words(one.figure)}" for one in self.comparison.beside)
        found = html.escape("; ".join(told))
        return f"<p>The same runs, by other figures: {found}.</p>" if found else ""


def card(
    experiment: Experiment | str, ours: str, base: str | None = None, *, figure: str, **how: Any
) -> Card:
    """Return the evidence card of a comparison; `how` goes to `compare`."""
    result = compare(experiment, ours, base, figure=figure, **how)
    sentence = sentence_of(result)
    return Card(result, sentence, picture(result, alt=sentence))


def sentence_of(result: Comparison) -> str:
    """Return what was found: the figure, each arm with its level and rate, difference, verdict."""
    after = f", after {result.length} updates" if result.length else ""
    ours, base = sides_of(result)
    why, _, difference = result.phrase().rpartition("; ")
    verdict = f"{result.verdict} ({why})" if why else result.verdict
    ending = f"Difference: {difference}. Verdict: {verdict}."
    return f"{result.by[:1].upper()}{result.by[1:]}{after}: {ours}; {base}. {ending}"


def sides_of(result: Comparison) -> tuple[str, str]:
    """Return ours and base, each with the mean of its figure and the rate it was trained at."""
    ours, base = (
        f"{name} {level:.3g}" + (f" at rate ×{rate:g}" if result.length else "")
        for name, level, rate in zip(
            (result.ours, result.base), result.levels, result.rates, strict=True
        )
    )
    return ours, base


def picture(result: Comparison, *, alt: str) -> Still:
    """Draw a dot a pair with mean and interval; beside it the difference by rate and by length.

    Each end of the difference names the arm that is better there. On a phone three parts stand
    below each other.
    """
    parts: list[tuple[str, tuple[Point, ...]]] = []
    if len(result.by_rate) > 1:
        parts.append(("× own peak rate", result.by_rate))
    if len(result.by_length) > 1:
        parts.append(("updates", result.by_length))
    n = 1 + len(parts)
    with canvas(WIDTH, HEIGHT, ncols=n, sharey=True, squeeze=False) as (figure, axes):
        _panels(figure, list(axes.flat), result, parts)
    tall = {"nrows": n} if n == 3 else {"ncols": n}
    size = (PHONE, n * HEIGHT * 3 // 4 if n == 3 else HEIGHT + 30)
    with canvas(*size, sharey=True, squeeze=False, **tall) as (narrow, axes):
        _panels(narrow, list(axes.flat), result, parts)
    return still(figure, alt=alt, narrow=narrow)


def _panels(
    figure: Figure,
    panels: Sequence[Axes],
    result: Comparison,
    parts: Sequence[tuple[str, tuple[Point, ...]]],
) -> None:
    first, *others = panels
    spread = [0.12 * (i - (result.n - 1) / 2) / result.n for i in range(result.n)]
    first.axhline(0, color="black", linewidth=1)
    first.plot(spread, result.differences, "o", alpha=0.7)
    _interval(first, 0.25, Point(0, result.mean, result.low, result.high, result.n))
    first.set_xlim(-0.15, 0.4)
    first.set_xticks([0, 0.25], [f"{result.n} pairs", "mean"])
    figure.supylabel(f"difference, {result.unit}", fontsize=FONT_SIZE)
    ours, base = sides_of(result)
    above, below = (base, ours) if result.lower_is_better else (ours, base)
    reach = _reach(result)
    every = [point for _, points in parts for point in points]
    if any(point.low < reach[0] or point.high > reach[1] for point in every):
        first.set_ylim(*reach)  # or one wide interval would flatten all pairs
    room = int(figure.bbox.width / _LETTER)
    for label, arrow, side in ((figure.suptitle, "↑", above), (figure.supxlabel, "↓", below)):
        text = textwrap.fill(f"{arrow} better: {side}", room)
        label(text, x=0.01, ha="left", fontsize=FONT_SIZE)
    for axis, (title, points) in zip(others, parts, strict=True):
        axis.axhline(0, color="black", linewidth=1)
        for place, point in enumerate(points):
            _interval(axis, place, point)
            _say_what_is_cut(axis, place, point, reach)
        axis.set_xlim(-0.6, len(points) - 0.4)
        step = 1 + (len(points) - 1) // 6  # more labels would lie on each other
        axis.set_xticks(range(0, len(points), step), [f"{p.x:g}" for p in points[::step]])
        axis.set_xlabel(title)


def overview(results: Sequence[Comparison], *, title: str) -> Still:
    """Return a line for each comparison with one base: mean difference, interval, and the pairs.

    Raises:
        ValueError: the comparisons have different bases or figures.
    """
    if len({(result.base, result.figure, result.length) for result in results}) != 1:
        raise ValueError("an overview compares arms with one base, by one figure, at one length")
    base, unit = results[0].base, results[0].unit
    better = "left" if results[0].lower_is_better else "right"
    with canvas(WIDTH, 70 + 27 * len(results)) as (figure, axis):
        axis.axvline(0, color="black", linewidth=1)
        for row, result in enumerate(results):
            apart = result.verdict.split()[0] in ("better", "worse")
            axis.plot(
                result.differences, [row] * result.n, "o", color="black", alpha=0.25, markersize=4
            )
            if result.interval:
                axis.plot(
                    [result.low, result.high], [row, row], color=CATEGORIES[apart], linewidth=2.5
                )
            axis.plot([result.mean], [row], "D", color=CATEGORIES[apart])
        axis.set_yticks(range(len(results)), [result.ours for result in results])
        axis.invert_yaxis()
        axis.set_title(title)
        axis.locator_params(axis="x", nbins=4)
        figure.supxlabel(f"{unit}, less those of {base}: {better} is better", fontsize=FONT_SIZE)
    differences = "; ".join(
        f"{result.ours} {result.effect}, {result.verdict}" for result in results
    )
    return still(figure, alt=f"{title}. Differences to {base}: {differences}.")


def _interval(axis: Any, x: Number, point: Point) -> None:
    axis.plot([x, x], [point.low, point.high], color=CATEGORIES[1], linewidth=2)
    axis.plot([x], [point.mean], "D", color=CATEGORIES[1])


def _reach(result: Comparison) -> tuple[float, float]:
    """Return how far the axis goes at most: half as far again as the pairs and their interval."""
    seen = [y for y in (0, *result.differences, result.low, result.high) if isfinite(y)]
    spare = (max(seen) - min(seen)) / 2
    return min(seen) - spare, max(seen) + spare


def _say_what_is_cut(axis: Axes, x: Number, point: Point, reach: tuple[float, float]) -> None:
    low, high = reach
    if point.low < low or point.high > high:
        ends = (f"{end:.0f}" if abs(end) >= 10 else f"{end:.2g}" for end in (point.low, point.high))
        text = " to ".join(ends).replace("-", "−")
        axis.text(x + 0.1, high, text, rotation=90, va="top", fontsize=FONT_SIZE)
    if not low <= point.mean <= high:
        edge, arrow = (low, "v") if point.mean < low else (high, "^")
        axis.plot([x], [edge], arrow, color=CATEGORIES[1], clip_on=False)
