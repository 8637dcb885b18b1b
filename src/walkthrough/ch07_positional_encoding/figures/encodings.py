"""Positional encodings (§3.5) as a map, small or whole, as a rotation, and by distance."""

import math
from collections.abc import Mapping, Sequence

import altair as alt
import torch
from jaxtyping import Float
from torch import Tensor

from walkthrough.ch07_positional_encoding.figures.waves import BASE, even_size
from walkthrough.drawing.channels import number_slider
from walkthrough.drawing.lines import Number, line_chart
from walkthrough.drawing.still import SIGNED_COLOURS, Still, canvas, still
from walkthrough.drawing.style import PALETTE, SIGNED_SCHEME, described, rounded, wrapped


def encoding_heatmap(
    encoding: Float[Tensor, "length d_model"],
    *,
    title: str = "Each row is a position: fast waves on the left, slow ones on the right",
    description: str | None = None,
) -> alt.Chart:
    """Return the encoding as a map, one row a position and one column a dimension."""
    length, d_model = encoding.shape
    row = {
        "value": rounded(encoding, 2),
        "position": list(range(length)),
        "dimension": list(range(d_model)),
    }
    limit = float(encoding.abs().max())
    colour = alt.Color(
        "value:Q",
        scale=alt.Scale(scheme=SIGNED_SCHEME, domain=[-limit, limit], domainMid=0),
        legend=alt.Legend(title="value", orient="bottom", gradientLength=160),
    )
    chart = (
        alt.Chart(alt.Data(values=[row]))
        .transform_flatten(["value", "position"])
        .transform_flatten(["value", "dimension"])
        .mark_rect()
        .encode(
            alt.X("dimension:O", title="dimension →", axis=_sparse_axis(d_model)),
            alt.Y("position:O", title="↓ position", axis=_sparse_axis(length)),
            colour,
            tooltip=[
                alt.Tooltip("position:O", title="position"),
                alt.Tooltip("dimension:O", title="dimension"),
                alt.Tooltip("value:Q", title="value", format=".2f"),
            ],
        )
        .properties(width="container", height=5 * length, title=wrapped(title))
    )
    return described(
        chart,
        description
        or f"{title}. Heat map of {length} positions as rows and {d_model} dimensions as columns, "
        f"values from {encoding.min():.2f} to {encoding.max():.2f}.",
    )


def _sparse_axis(n: int) -> alt.Axis:
    apart = max(1, 2 ** math.ceil(math.log2(max(n / 8, 1))))
    return alt.Axis(values=list(range(0, n, apart)), ticks=True, labelAngle=0)


def encoding_picture(
    encoding: Float[Tensor, "length d_model"],
    *,
    title: str = "Every number of {length} positions",
    halves: tuple[str, str] = ("sines: dimension 0, 2, 4 …", "cosines: dimension 1, 3, 5 …"),
    x_title: str = "pair i →",
    y_title: str = "↓ position",
    legend: str = "value",
    alt_text: str | None = None,
) -> Still:
    """Return a large encoding as a still picture, one row a position: its sines, its cosines.

    Side by side, since a sine and a cosine in turn make stripes that hide everything else.

    Raises:
        ValueError: d_model is odd.
    """
    length, d_model = even_size(encoding)
    limit = float(encoding.abs().max())
    with canvas(420, 120 + 4 * length, ncols=2, sharey=True) as (figure, axes):
        for ax, heading, half in zip(axes, halves, (0, 1), strict=True):
            image = ax.imshow(
                encoding[:, half::2].numpy(force=True),
                aspect="auto",
                interpolation="none",  # a cell of the image is a number, at any zoom
                cmap=SIGNED_COLOURS,
                vmin=-limit,
                vmax=limit,
            )
            ax.set_title(heading, fontsize=12, fontweight="normal")
            ax.set_xlabel(x_title)
        axes[0].set_ylabel(y_title)
        figure.colorbar(image, ax=axes, orientation="horizontal", aspect=40, label=legend)
        heading = title.format(length=length)
        figure.suptitle(heading, x=0.01, ha="left", fontweight="semibold", fontsize=13)
    words = alt_text or (
        f"{heading}. Two maps with {length} positions as rows, of {d_model // 2} sines and as many "
        f"cosines; values from {encoding.min():.2f} to {encoding.max():.2f}."
    )
    return still(figure, alt=words)


def rotation_chart(
    encoding: Float[Tensor, "length d_model"],
    *,
    base: Number = BASE,
    title: str = "k positions further: a pair turns by one angle, wherever it starts",
    description: str | None = None,
) -> alt.LayerChart:
    """Return PE(pos) and PE(pos + k) of one pair on the circle; sliders set pair, pos and k."""
    length, d_model = even_size(encoding)
    largest_offset = length // 2
    values = rounded(encoding)
    rows = [
        {
            "pair": pair,
            "rate": float(f"{base ** (-2 * pair / d_model):.4g}"),
            "sine": [row[2 * pair] for row in values],
            "cosine": [row[2 * pair + 1] for row in values],
        }
        for pair in range(d_model // 2)
    ]
    sliders = [
        number_slider("pair", "pair i ", d_model // 2 - 1, start=min(1, d_model // 2 - 1)),
        number_slider("pos", "position ", length - 1 - largest_offset, start=0),
        number_slider("k", "offset k ", largest_offset, start=min(2, largest_offset)),
    ]
    domain = alt.Scale(domain=[-1.35, 1.35])
    x = alt.X("x:Q", title="cosine (dimension 2i+1)", scale=domain)
    y = alt.Y("y:Q", title="sine (dimension 2i)", scale=domain)
    chosen = alt.Chart(alt.Data(values=rows)).transform_filter("datum.pair == pair")
    layers = [*_circle(chosen, x, y), *_hands(chosen, x, y)]
    chart = alt.LayerChart(layer=layers).add_params(*sliders)
    chart = chart.properties(width=240, height=240, title=wrapped(title))
    words = (
        f"{title}. A circle with two hands, PE(pos) and PE(pos + k), for the pair of dimensions, "
        "the position and the offset that sliders choose; a line of text gives their angle."
    )
    return described(chart, description or words)


def _circle(chosen: alt.Chart, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    turn = [2 * math.pi * i / 72 for i in range(73)]
    rim = [
        {"x": round(math.cos(a), 3), "y": round(math.sin(a), 3), "i": i} for i, a in enumerate(turn)
    ]
    line = alt.Chart(alt.Data(values=rim)).mark_line(color=PALETTE["grey"], strokeWidth=1)
    angle = (
        "format(k * datum.rate, '.2f') + ' rad = ' + format(k * datum.rate * 180 / PI, '.0f') + '°'"
    )
    words = chosen.transform_calculate(words=f"'k · ω = ' + {angle}").mark_text(
        align="left", fontSize=12
    )
    return [
        line.encode(x, y, order="i:Q"),
        words.encode(x=alt.value(4), y=alt.value(10), text="words:N"),
    ]


def _hands(chosen: alt.Chart, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    names = ["PE(pos)", "PE(pos + k)"]
    ends = chosen.transform_calculate(hand=f"{names}", at="[pos, pos + k]")
    ends = ends.transform_flatten(["hand", "at"]).transform_calculate(
        x="datum.cosine[datum.at]", y="datum.sine[datum.at]", zero="0"
    )
    colour = alt.Color(
        "hand:N",
        scale=alt.Scale(domain=names, range=[PALETTE["blue"], PALETTE["vermilion"]]),
        legend=alt.Legend(title=None),
    )
    tooltip = [
        alt.Tooltip("hand:N", title="hand"),
        alt.Tooltip("at:Q", title="position"),
        alt.Tooltip("x:Q", title="cosine", format=".3f"),
        alt.Tooltip("y:Q", title="sine", format=".3f"),
    ]
    rules = ends.mark_rule(strokeWidth=2.5).encode(
        x, y, colour, x2=alt.X2(datum=0), y2=alt.Y2(datum=0)
    )
    tips = ends.mark_point(filled=True, size=90, opacity=1).encode(x, y, colour, tooltip=tooltip)
    return [rules, tips]


def distance_chart(
    encodings: Float[Tensor, "length d_model"] | Mapping[str, Float[Tensor, "_ d_model"]],
    *,
    anchors: Sequence[int] | None = None,
    title: str = "PE(pos) · PE(pos + k) depends on the distance k alone",
    description: str | None = None,
) -> alt.LayerChart:
    """Return dot products of encodings against their distance, one line an anchor position.

    With sinusoids the lines of all anchors lie on each other; with learned encodings they do not.

    Raises:
        ValueError: an anchor is outside the encoding.
    """
    named = dict(encodings) if isinstance(encodings, Mapping) else {"": encodings}
    series = {}
    for name, encoding in named.items():
        length = encoding.shape[0]
        for anchor in anchors or (0, length // 2, length - 1):
            if not 0 <= anchor < length:
                raise ValueError(f"an anchor must be a position below {length}; got {anchor}")
            products = torch.mv(encoding, encoding[anchor]).tolist()
            points = [(float(p - anchor), product) for p, product in enumerate(products)]
            series[f"{name} pos = {anchor}".strip()] = points
    return line_chart(
        series,
        title=title,
        x_title="distance k in positions",
        y_title="dot product",
        points=False,
        description=description,
    )
