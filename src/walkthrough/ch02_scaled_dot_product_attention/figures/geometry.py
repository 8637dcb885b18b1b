"""A query among keys in the plane: where it points, and what it brings back (§3.2.1)."""

import math
from collections.abc import Mapping

import altair as alt

from walkthrough.drawing.channels import number_slider
from walkthrough.drawing.style import KEY, OUTPUT, QUERY, described, wrapped

Place = tuple[float, float]


def plane_explorer(
    keys: Mapping[str, Place],
    *,
    title: str = "Turn the query: the output moves to the keys that it points at",
    angle: int = 70,
    length: float = 2.0,
    description: str | None = None,
) -> alt.LayerChart:
    """Return keys in the plane, each its own value, and sliders that turn and stretch a query.

    The area of a key is its weight; the diamond is the output, the weighted mean of the keys.

    Raises:
        ValueError: there are no keys.
    """
    if not keys:
        raise ValueError("a query needs at least one key; got none")
    rows = [{"key": name, "x": x, "y": y} for name, (x, y) in keys.items()]
    reach = 1.5 * max(math.hypot(x, y) for x, y in keys.values())
    turn = number_slider("angle", "direction of the query, degrees ", 360, start=angle, step=5)
    stretch = number_slider("size", "length of the query ", 8, start=length, step=0.25)
    plane, ticks = alt.Scale(domain=[-reach, reach]), alt.Axis(values=[-1, 0, 1])
    x = alt.X("x:Q", scale=plane, axis=ticks, title="component 1")
    y = alt.Y("y:Q", scale=plane, axis=ticks, title="component 2")
    weighed = (
        alt.Chart(alt.Data(values=rows))
        .transform_calculate(
            score="size * (datum.x * cos(angle * PI / 180) + datum.y * sin(angle * PI / 180))"
            f" / {math.sqrt(2):.6f}"
        )
        .transform_calculate(power="exp(datum.score)")
        .transform_joinaggregate(total="sum(power)")
        .transform_calculate(weight="datum.power / datum.total")
    )
    area = alt.Size("weight:Q", scale=alt.Scale(domain=[0, 1], range=[12, 900]), legend=None)
    tooltip = [
        alt.Tooltip("key:N", title="key"),
        alt.Tooltip("score:Q", title="score q·k / √2", format=".2f"),
        alt.Tooltip("weight:Q", title="weight", format=".2f"),
    ]
    points = weighed.mark_point(filled=True, opacity=0.75, color=KEY)
    names = alt.Chart(alt.Data(values=rows)).mark_text(dy=-16, fontSize=12)
    output = (
        weighed.transform_calculate(px="datum.weight * datum.x", py="datum.weight * datum.y")
        .transform_aggregate(x="sum(px)", y="sum(py)")
        .mark_point(shape="diamond", filled=True, size=190, opacity=1, color=OUTPUT)
    )
    layers = [
        _arrow(reach, x, y),
        points.encode(x, y, area, tooltip=tooltip),
        names.encode(x, y, text="key:N"),
        output.encode(
            x, y, tooltip=[alt.Tooltip("x:Q", format=".2f"), alt.Tooltip("y:Q", format=".2f")]
        ),
    ]
    chart = alt.LayerChart(layer=layers).add_params(turn, stretch)
    chart = chart.properties(width=230, height=230, title=wrapped(title))
    return described(chart, description or _in_words(title, list(keys)))


def _arrow(reach: float, x: alt.X, y: alt.Y) -> alt.Chart:
    """The query from the origin, drawn to a scale of its own so that it fits the plane."""
    long = f"{reach / 8:.4f} * size"
    origin = alt.Chart(alt.Data(values=[{"x": 0, "y": 0}]))
    line = origin.transform_calculate(
        tip_x=f"{long} * cos(angle * PI / 180)", tip_y=f"{long} * sin(angle * PI / 180)"
    )
    rule = line.mark_rule(color=QUERY, strokeWidth=3)
    return rule.encode(x, y, x2="tip_x:Q", y2="tip_y:Q")


def _in_words(title: str, names: list[str]) -> str:
    return (
        f"{title}. A plane with the keys {', '.join(names)} as discs, whose area is their weight; "
        "a line from the origin is the query, and a diamond is the output, the mean of the keys "
        "by weight. Sliders turn the query and make it longer."
    )
