"""How far a gradient reaches back in a recurrent network, for chapter 01 (§1, §2)."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import altair as alt

from walkthrough.drawing.channels import line_channels, number_slider
from walkthrough.drawing.lines import Number, Points, check_series
from walkthrough.drawing.style import CATEGORIES, PALETTE, described, wrapped

ByFactor = Mapping[float, Points]


def gradient_explorer(
    measured: Mapping[str, ByFactor],
    *,
    start: float = 0.9,
    title: str = "Below 1 the gradient vanishes, above 1 it can explode: move |w|",
    slider: str = "|w| ",
    x_title: str = "steps between the input and the output",
    y_title: str = "size of the gradient at step 0",
    power_name: str = "|w| to the power of the steps",
    description: str | None = None,
) -> alt.LayerChart:
    """Return the gradient over the distance, one line a network; a slider chooses |w|.

    `measured[name][w]` holds (distance, gradient) points. The dashed grey line is |w|^distance.

    Raises:
        ValueError: there is nothing to draw, the networks were measured at different |w|, the
            |w| are not evenly spaced, `start` is none of them, or a gradient is not above 0.
    """
    factors = _factors(measured, start)
    rows: list[dict[str, Any]] = [
        {"network": name, "w": w, "steps": distance, "gradient": float(f"{gradient:.3g}")}
        for name, by_factor in measured.items()
        for w, points in by_factor.items()
        for distance, gradient in points
    ]
    distances = sorted({row["steps"] for row in rows})
    rows += [
        {"network": power_name, "w": w, "steps": n, "gradient": float(f"{w**n:.3g}")}
        for w in factors
        for n in distances
    ]
    first, second, *_ = factors
    apart = round(second - first, 6)
    chosen = number_slider("w", slider, factors[-1], start=start, smallest=first, step=apart)
    # a slider's steps and our numbers differ in the last digits
    shown = alt.Chart(alt.Data(values=rows)).transform_filter("abs(datum.w - w) < 0.001")
    names = [*measured, power_name]
    layers = _lines(shown, names, rows, x_title, y_title)
    chart = alt.LayerChart(layer=[_one(), *layers]).add_params(chosen)
    chart = chart.properties(width="container", height=260, title=wrapped(title))
    return described(chart, description or _in_words(title, measured, factors))


def _factors(measured: Mapping[str, ByFactor], start: Number) -> list[float]:
    if not measured:
        raise ValueError("a chart of gradients needs at least one network; got none")
    known = {name: sorted(by_factor) for name, by_factor in measured.items()}
    factors = next(iter(known.values()))
    if any(other != factors for other in known.values()):
        raise ValueError(f"all networks must be measured at the same |w|; got {known}")
    if len({round(b - a, 6) for a, b in pairwise(factors)}) != 1:
        raise ValueError(f"a slider needs two or more evenly spaced |w|; got {factors}")
    if start not in factors:
        raise ValueError(f"the slider must start at one of {factors}; got {start}")
    for name, by_factor in measured.items():
        series = {f"{name}, |w| = {w}": points for w, points in by_factor.items()}
        check_series(series, log_x=False, log_y=True)
    return factors


def _one() -> alt.Chart:
    """The line between growing and shrinking."""
    rule = alt.Chart(alt.Data(values=[{"gradient": 1}]))
    return rule.mark_rule(color=PALETTE["grey"], opacity=0.6).encode(y="gradient:Q")


def _lines(
    shown: alt.Chart, names: list[str], rows: list[dict[str, Any]], x_title: str, y_title: str
) -> list[alt.Chart]:
    sizes = [row["gradient"] for row in rows]
    colours = [*CATEGORIES[: len(names) - 1], PALETTE["grey"]]
    legend = alt.Legend(title=None, columns=1, symbolType="stroke")
    colour, dash = line_channels("network:N", names, legend, colours=colours)
    x = alt.X("steps:Q", title=x_title, axis=alt.Axis(tickCount=6))
    y = alt.Y(
        "gradient:Q",
        title=y_title,
        # one scale for every |w|: the lines move, the axis does not
        scale=alt.Scale(type="log", domain=[min(sizes), max(sizes)], nice=False),
        axis=alt.Axis(format=".0e", tickCount=6),
    )
    tooltip = [
        alt.Tooltip("network:N", title="network"),
        alt.Tooltip("w:Q", title="|w|"),
        alt.Tooltip("steps:Q", title="steps"),
        alt.Tooltip("gradient:Q", title="gradient", format=".2e"),
    ]
    return [
        shown.mark_line().encode(x, y, colour, strokeDash=dash),
        shown.mark_point(filled=True, size=36).encode(x, y, colour, tooltip=tooltip),
    ]


def _in_words(title: str, measured: Mapping[str, ByFactor], factors: list[float]) -> str:
    parts = []
    for name, by_factor in measured.items():
        ends = ", ".join(
            f"{by_factor[w][-1][1]:.1e} for |w| = {w:g}" for w in (factors[0], factors[-1])
        )
        parts.append(f"{name}: {ends}")
    last = next(iter(next(iter(measured.values())).values()))[-1][0]
    return (
        f"{title}. Lines of the gradient's size, on a logarithmic axis, over the number of steps. "
        f"After {last:g} steps: {'; '.join(parts)}. A slider chooses |w|."
    )
