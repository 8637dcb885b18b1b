"""What layers cost over length and width, on logarithmic axes, with the line n = d (§4)."""

from collections.abc import Mapping
from typing import Any

import altair as alt

from walkthrough.drawing.channels import line_channels, menu
from walkthrough.drawing.lines import Series, check_series
from walkthrough.drawing.style import PALETTE, described, wrapped


def crossing_chart(
    costs: Mapping[str, Mapping[int, Series]],
    *,
    title: str,
    y_title: str,
    start: int,
    x_title: str = "n, words in a sentence",
    labels: tuple[str, str] = ("show ", "d "),
    rule_name: str = "n = d",
    description: str | None = None,
) -> alt.LayerChart:
    """Return cost against n for each layer; the chosen d stands out, and n = d is marked.

    `costs` holds named lines by view and then by d. All widths stay visible as faint lines. With
    one view there is no selector for it. `start` is the width shown first.

    Raises:
        ValueError: there are no costs, views differ in their widths, `start` is none of these, or
            a cost is not positive.
    """
    views = list(costs)
    widths = [tuple(by_width) for by_width in costs.values()]
    if not views or len(set(widths)) != 1 or start not in widths[0]:
        raise ValueError(
            "every view needs the same widths, among them the one to start with: "
            f"got {dict(zip(views, widths, strict=True))} and {start}"
        )
    for by_width in costs.values():
        for series in by_width.values():
            check_series(series, log_x=True, log_y=True)
    names = list(next(iter(costs[views[0]].values())))
    chosen = [menu("d_shown", widths[0], labels[1], start=start)]
    if len(views) > 1:
        chosen = [menu("view", views, labels[0]), *chosen]
    layers = _lines(costs, names, x_title, y_title) + _rule(list(widths[0]), rule_name)
    chart = (
        alt.LayerChart(layer=layers)
        .add_params(*chosen)
        .properties(width="container", height=280, title=wrapped(title))
    )
    return described(chart, description or _in_words(title, x_title, y_title, costs))


def _rows(costs: Mapping[str, Mapping[int, Series]]) -> list[dict[str, Any]]:
    return [
        {"view": view, "d": d, "layer": name, "n": n, "cost": float(f"{cost:.4g}")}
        for view, by_width in costs.items()
        for d, series in by_width.items()
        for name, points in series.items()
        for n, cost in points
    ]


def _lines(
    costs: Mapping[str, Mapping[int, Series]], names: list[str], x_title: str, y_title: str
) -> list[alt.Chart]:
    rows = _rows(costs)
    data = alt.Chart(alt.Data(values=rows))
    sizes = [row["cost"] for row in rows]
    # one scale for every view: the lines move, the axis does not
    cost_scale = alt.Scale(type="log", base=10, domain=[min(sizes), max(sizes)], nice=False)
    if len(costs) > 1:
        data = data.transform_filter("datum.view == view")
    legend = alt.Legend(
        title=None, symbolType="stroke", symbolOpacity=1, symbolStrokeWidth=3, columns=1
    )
    colour, dash = line_channels("layer:N", names, legend)
    base = data.encode(
        alt.X("n:Q", title=x_title, scale=alt.Scale(type="log", base=2, nice=False)),
        alt.Y("cost:Q", title=y_title, scale=cost_scale),
        colour,
    )
    tooltip = [
        alt.Tooltip("layer:N", title="layer"),
        alt.Tooltip("d:Q", title="d"),
        alt.Tooltip("n:Q", title="n"),
        alt.Tooltip("cost:Q", title=y_title, format=".3~g"),
    ]
    faint = base.mark_line(strokeWidth=1, opacity=0.28).encode(dash, detail="d:N")
    shown = base.transform_filter("datum.d == d_shown")
    return [
        faint,
        shown.mark_line(strokeWidth=3).encode(dash),
        shown.mark_point(filled=True, size=42, opacity=1).encode(tooltip=tooltip),
    ]


def _rule(widths: list[int], name: str) -> list[alt.Chart]:
    base = (
        alt.Chart(alt.Data(values=[{"d": d, "name": name} for d in widths]))
        .transform_filter("datum.d == d_shown")
        .encode(alt.X("d:Q"))
    )
    return [
        base.mark_rule(color=PALETTE["grey"], strokeDash=[4, 4], strokeWidth=1.5),
        base.mark_text(align="right", dx=-5, fontSize=12).encode(y=alt.value(10), text="name:N"),
    ]


def _in_words(
    title: str, x_title: str, y_title: str, costs: Mapping[str, Mapping[int, Series]]
) -> str:
    parts = []
    for view, by_width in costs.items():
        for d, series in by_width.items():
            ends = ", ".join(
                f"{name} from {points[0][1]:.3g} at {points[0][0]} to {points[-1][1]:.3g} at "
                f"{points[-1][0]}"
                for name, points in series.items()
            )
            parts.append(f"{view}, d = {d}: {ends}")
    return (
        f"{title}. Lines of {y_title} over {x_title}, both axes logarithmic; a selector chooses "
        f"the width d, and a dashed line marks n = d. {'; '.join(parts)}."
    )
