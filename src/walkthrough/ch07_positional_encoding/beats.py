"""Where fast hands come round together: clocks, and the share of right answers over the start."""

import math
from collections.abc import Sequence

import altair as alt

from walkthrough.drawing.channels import number_slider
from walkthrough.drawing.style import NARROW, PALETTE, QUERY, described, wrapped

PER_ROW, APART = 3, 2.3
"""Clocks of radius 1."""


def clocks_and_accuracy(
    by_start: Sequence[float],
    wavelengths: Sequence[float],
    *,
    trained_to: int,
    first: int,
    title: str = "Where the fast hands come round together, answers are right again",
    slider: str = "ten words begin at position ",
    description: str | None = None,
) -> alt.VConcatChart:
    """Return clocks at ten positions, and the share of right answers there, over their start.

    A slider sets the start. Grey: where the hands stood at 0 … `trained_to` − 1, in training.
    """
    start = number_slider("start", slider, len(by_start) - 1, start=first)
    panels = [_clocks(wavelengths, trained_to), _shares(by_start)]
    chart = alt.VConcatChart(vconcat=panels, spacing=10).add_params(start)
    said = ", ".join(f"{by_start[n]:.0%} from {n}" for n in range(0, len(by_start), 20))
    words = f"{title}. {len(wavelengths)} clocks at ten positions. Right answers: {said}."
    return described(chart.properties(title=wrapped(title)), description or words)


def _clocks(wavelengths: Sequence[float], n_places: int) -> alt.LayerChart:
    faces = [
        {
            "column": APART * (n % PER_ROW),
            "row": -APART * (n // PER_ROW),
            "turn": length,
            "k": list(range(n_places)),
        }
        for n, length in enumerate(wavelengths)
    ]
    wide, high = (APART * n for n in (PER_ROW, math.ceil(len(faces) / PER_ROW)))
    places = alt.Chart(alt.Data(values=faces)).transform_flatten(["k"])
    half = APART / 2
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[-half, wide - half], nice=False))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[half - high, half], nice=False))

    def standing(begin: str, radius: float) -> alt.Chart:
        angle = f"2 * PI * ({begin} + datum.k) / datum.turn"
        return places.transform_calculate(
            x=f"datum.column + {radius} * sin({angle})", y=f"datum.row + {radius} * cos({angle})"
        )

    tooltip = [alt.Tooltip("turn:Q", title="positions a turn", format=".1f")]
    trained, now = standing("0", 1.0), standing("start", 0.8)
    hand = now.transform_filter("datum.k == 0").mark_rule(color=QUERY, strokeWidth=2)
    layers = [
        trained.mark_point(filled=True, size=18, color=PALETTE["grey"]).encode(x, y),
        now.mark_point(filled=True, size=18, color=QUERY).encode(x, y, tooltip=tooltip),
        hand.encode(x, y, x2="column:Q", y2="row:Q", tooltip=tooltip),
    ]
    return alt.LayerChart(layer=layers).properties(width=NARROW, height=NARROW * high / wide)


def _shares(by_start: Sequence[float]) -> alt.LayerChart:
    row = {"begin": list(range(len(by_start))), "right": list(by_start)}
    shares = alt.Chart(alt.Data(values=[row])).transform_flatten(["begin", "right"])
    x = alt.X("begin:Q", title="the first of ten positions →", scale=alt.Scale(nice=False))
    y = alt.Y(
        "right:Q",
        title="right answers",
        scale=alt.Scale(domain=[0, 1]),
        axis=alt.Axis(format="%", tickCount=3),
    )
    chosen = shares.transform_filter("datum.begin == start")
    tooltip = ["begin:Q", alt.Tooltip("right:Q", format=".0%")]
    layers = [
        shares.mark_line(color=PALETTE["blue"]).encode(x, y),
        chosen.mark_point(filled=True, size=70, color=QUERY, opacity=1).encode(
            x, y, tooltip=tooltip
        ),
    ]
    return alt.LayerChart(layer=layers).properties(width=NARROW, height=90)
