"""Lines over a number: several named series, their last values in the legend."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from walkthrough.drawing.channels import line_channels
from walkthrough.drawing.style import PALETTE, described, wrapped

LONG_LABEL = 300
"""Width in px that a label may have where the legend has one column, on a phone too."""
Number = int | float
Points = Sequence[tuple[Number, Number]]
Series = Mapping[str, Points]


def line_chart(
    series: Series,
    *,
    title: str,
    x_title: str,
    y_title: str,
    log_x: bool = False,
    log_y: bool = False,
    base: int = 10,
    y_domain: tuple[Number, Number] | None = None,
    points: bool = True,
    last_values: bool = False,
    reference: Series | None = None,
    description: str | None = None,
) -> alt.LayerChart:
    """Return named lines; `reference` holds dashed grey lines to compare them with.

    Colour and dash both tell the lines apart. With `last_values` the legend also says where each
    line ends.

    Raises:
        ValueError: no points, a value that is not finite, or not positive on a logarithmic axis.
    """
    check_series({**series, **(reference or {})}, log_x=log_x, log_y=log_y)
    labels = {name: _label(name, values, last_values) for name, values in series.items()}
    x = alt.X("x:Q", title=x_title, scale=_scale(log_x, base), axis=_x_axis(series, log_x))
    y = alt.Y("y:Q", title=y_title, scale=_scale(log_y, base, y_domain))
    names = list(labels.values())
    legend = alt.Legend(title=None, symbolType="stroke", columns=1 if last_values else 2)
    if last_values:
        legend.labelLimit = LONG_LABEL
    colour, dash = line_channels("series:N", names, legend)
    data = alt.Chart(alt.Data(values=_rows({labels[k]: v for k, v in series.items()})))
    tooltip = [
        alt.Tooltip("series:N", title="line"),
        alt.Tooltip("x:Q", title=x_title),
        alt.Tooltip("y:Q", title=y_title, format=".3~g"),
    ]
    lines = data.mark_line().encode(x, y, colour, strokeDash=dash)
    dots = data.mark_point(filled=True, size=42 if points else 14, opacity=1 if points else 0)
    layers = [
        *_references(reference or {}, x, y),
        lines,
        dots.encode(x, y, colour, tooltip=tooltip),
    ]
    chart = alt.LayerChart(layer=layers).properties(
        width="container", height=220, title=wrapped(title)
    )
    return described(
        chart, description or _in_words(title, x_title, y_title, series, reference or {})
    )


def check_series(series: Series, *, log_x: bool, log_y: bool) -> None:
    """Check that every series can be drawn.

    Raises:
        ValueError: one cannot.
    """
    if not series:
        raise ValueError("a line chart needs at least one series; got none")
    for name, points in series.items():
        if not points:
            raise ValueError(f"a line needs at least one point; {name!r} has none")
        for x, y in points:
            if not (math.isfinite(x) and math.isfinite(y)):
                raise ValueError(f"a figure needs finite values; {name!r} has {(x, y)}")
            if (log_x and x <= 0) or (log_y and y <= 0):
                raise ValueError(f"a logarithmic axis needs values above 0; {name!r} has {(x, y)}")


def _x_axis(series: Series, log: bool) -> alt.Axis:
    counts = all(isinstance(x, int) for points in series.values() for x, _ in points)
    if counts and not log:
        return alt.Axis(tickCount=6, tickMinStep=1)  # nothing happens at 1.5 layers
    return alt.Axis(tickCount=6)


def _scale(log: bool, base: int, domain: tuple[Number, Number] | None = None) -> alt.Scale:
    settings: dict[str, Any] = {"domain": list(domain)} if domain else {}
    if log:
        return alt.Scale(type="log", base=base, nice=False, **settings)
    return alt.Scale(zero=False, **settings)


def _label(name: str, points: Points, with_value: bool) -> str:
    return f"{name}: {points[-1][1]:.3g} at the end" if with_value else name


def _rows(series: Series) -> list[dict[str, Any]]:
    return [
        {"series": name, "x": x, "y": float(f"{y:.4g}")}
        for name, points in series.items()
        for x, y in points
    ]


def _references(reference: Series, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    charts = []
    for name, points in reference.items():
        data = alt.Chart(alt.Data(values=_rows({name: points})))
        line = data.mark_line(color=PALETTE["grey"], strokeDash=[4, 4], strokeWidth=1.5)
        last = alt.Chart(alt.Data(values=_rows({name: points[-1:]})))
        label = last.mark_text(align="right", dy=-8, dx=-2, fontSize=12)
        charts += [line.encode(x, y), label.encode(x, y, text="series:N")]
    return charts


def _in_words(title: str, x_title: str, y_title: str, series: Series, reference: Series) -> str:
    dashed = f" Dashed, to compare with: {_ends(reference)}." if reference else ""
    return f"{title}. Lines of {y_title} over {x_title}: {_ends(series)}.{dashed}"


def _ends(series: Series) -> str:
    return "; ".join(
        f"{name} goes from {points[0][1]:.3g} at {points[0][0]:g} "
        f"to {points[-1][1]:.3g} at {points[-1][0]:g}"
        for name, points in series.items()
    )
