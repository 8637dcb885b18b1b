"""Positional encodings (§3.5): heat map, waves and a binary counter, wavelengths, the rotation."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import torch
from jaxtyping import Float
from torch import Tensor

from walkthrough.figures.lines import Number, line_chart
from walkthrough.figures.style import PALETTE, SIGNED_SCHEME, described, rounded, wrapped

BASE = 10_000.0


def encoding_heatmap(
    encoding: Float[Tensor, "length d_model"],
    *,
    title: str = "Each row is a position: fast waves on the left, slow ones on the right",
    row_height: int = 5,
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
        .properties(width="container", height=row_height * length, title=wrapped(title))
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


def encoding_waves(
    encoding: Float[Tensor, "length d_model"],
    *,
    base: Number = BASE,
    title: str = "Each pair swings at its own rate, as each bit of a counter flips at its own",
    description: str | None = None,
) -> alt.LayerChart:
    """Return one pair of dimensions over the positions, beside the bit of a counter like it.

    The slider chooses the pair. The bit shown is the one whose period, 2^(b+1) positions, comes
    nearest to the pair's wavelength.
    """
    length, d_model = _even(encoding)
    values = rounded(encoding)
    rows = [
        {
            "pair": pair,
            "bit": _nearest_bit(_wavelength(pair, d_model, base)),
            "position": list(range(length)),
            "sine": [row[2 * pair] for row in values],
            "cosine": [row[2 * pair + 1] for row in values],
        }
        for pair in range(d_model // 2)
    ]
    pair = _slider("pair", "pair i ", d_model // 2 - 1, value=min(2, d_model // 2 - 1))
    names = {"sine": "dimension 2i: sine", "cosine": "dimension 2i+1: cosine"}
    shown = alt.Chart(alt.Data(values=rows)).transform_filter("datum.pair == pair")
    shown = shown.transform_flatten(["position", "sine", "cosine"])
    bit = "the like bit of a counter"
    domain, colours = [*names.values(), bit], [PALETTE[c] for c in ("blue", "vermilion", "grey")]
    colour = alt.Color(
        "wave:N",
        scale=alt.Scale(domain=domain, range=colours),
        legend=alt.Legend(title=None, columns=1),
    )
    x = alt.X("position:Q", title="position →", scale=alt.Scale(nice=False))
    y = alt.Y("value:Q", title="value", scale=alt.Scale(domain=[-1.1, 1.1]))
    counter = shown.transform_calculate(
        value="floor(datum.position / pow(2, datum.bit)) % 2 == 1 ? 1 : -1", wave=f"'{bit}'"
    )
    waves = shown.transform_fold(list(names), as_=["part", "value"]).transform_calculate(
        wave=f"{{'sine': '{names['sine']}', 'cosine': '{names['cosine']}'}}[datum.part]"
    )
    tooltip = [
        alt.Tooltip("wave:N", title="line"),
        alt.Tooltip("position:Q", title="position"),
        alt.Tooltip("value:Q", title="value", format=".3f"),
    ]
    layers = [
        counter.mark_line(interpolate="step-after", strokeWidth=1.5, strokeDash=[4, 3]).encode(
            x, y, colour
        ),
        waves.mark_line().encode(x, y, colour),
        waves.mark_point(filled=True, size=26).encode(x, y, colour, tooltip=tooltip),
    ]
    chart = alt.LayerChart(layer=layers).add_params(pair)
    chart = chart.properties(width="container", height=200, title=wrapped(title))
    words = (
        f"{title}. For the pair that the slider chooses, of {d_model // 2}, the sine and cosine "
        f"over {length} positions, and as a square wave the bit of a binary counter whose period "
        "is nearest."
    )
    return described(chart, description or words)


def _even(encoding: Tensor) -> tuple[int, int]:
    length, d_model = encoding.shape
    if d_model % 2:
        raise ValueError(f"pairs of sine and cosine need an even d_model; got {d_model}")
    return length, d_model


def _wavelength(pair: int, d_model: int, base: Number) -> float:
    return 2 * math.pi * base ** (2 * pair / d_model)


def _nearest_bit(wavelength: Number) -> int:
    return max(0, round(math.log2(wavelength)) - 1)


def _slider(name: str, label: str, largest: int, *, value: int, smallest: int = 0) -> Any:
    bind = alt.binding_range(min=smallest, max=largest, step=1, name=label)
    return alt.param(name, value=value, bind=bind)


def binary_counter(
    *,
    n_bits: int = 4,
    title: str = "A counter: the lowest bit flips at every position, the next at every second",
    description: str | None = None,
) -> alt.LayerChart:
    """Return the bits of 0 … 2^n_bits − 1, one row a position, the lowest bit on the left.

    Raises:
        ValueError: `n_bits` is not 1 to 6.
    """
    if not 1 <= n_bits <= 6:
        raise ValueError(f"n_bits must be 1 to 6, so that the rows fit a page; got {n_bits}")
    rows = [
        {"position": position, "bit": bit, "value": position >> bit & 1}
        for position in range(2**n_bits)
        for bit in range(n_bits)
    ]
    base = alt.Chart(alt.Data(values=rows)).encode(
        alt.X("bit:O", title="bit, lowest first →"), alt.Y("position:O", title="↓ position")
    )
    colours = alt.Scale(domain=[0, 1], range=["#dce6f0", PALETTE["blue"]])
    cells = base.mark_rect().encode(alt.Color("value:O", scale=colours, legend=None))
    ink = alt.when("datum.value == 1").then(alt.value("white")).otherwise(alt.value("black"))
    digits = base.mark_text(fontSize=11).encode(text="value:O", color=ink)
    chart = alt.LayerChart(layer=[cells, digits]).properties(
        width=alt.Step(30), height=alt.Step(16), title=wrapped(title)
    )
    words = f"{title}. Grid of {2**n_bits} positions as rows and {n_bits} bits as columns."
    return described(chart, description or words)


def wavelengths_chart(
    d_model: int,
    *,
    base: Number = BASE,
    title: str = "Wavelengths: equal factors from 2π up to just below {base:g}·2π",
    description: str | None = None,
) -> alt.LayerChart:
    """Return the wavelength of each pair of dimensions, in positions, on a logarithmic axis.

    Raises:
        ValueError: `d_model` is odd or below 2.
    """
    if d_model < 2 or d_model % 2:
        raise ValueError(
            f"pairs of sine and cosine need an even d_model of 2 or more; got {d_model}"
        )
    last = d_model // 2 - 1
    pairs = [(i, _wavelength(i, d_model, base)) for i in range(last + 1)]
    ends = {
        "2π": [(0.0, 2 * math.pi), (float(last), 2 * math.pi)],
        f"{base:g}·2π": [(0.0, base * 2 * math.pi), (float(last), base * 2 * math.pi)],
    }
    return line_chart(
        {"2π · base^(2i / d_model)": pairs},
        reference=ends,
        title=title.format(base=base),
        x_title="pair i of dimensions →",
        y_title="wavelength in positions",
        log_y=True,
        points=d_model <= 64,
        description=description,
    )


def rotation_chart(
    encoding: Float[Tensor, "length d_model"],
    *,
    base: Number = BASE,
    title: str = "k positions further: every pair turns by the same angle, wherever it starts",
    largest_offset: int | None = None,
    description: str | None = None,
) -> alt.LayerChart:
    """Return PE(pos) and PE(pos + k) of one pair on the circle; sliders set pair, pos and k."""
    length, d_model = _even(encoding)
    largest_offset = length // 2 if largest_offset is None else largest_offset
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
        _slider("pair", "pair i ", d_model // 2 - 1, value=min(1, d_model // 2 - 1)),
        _slider("pos", "position ", length - 1 - largest_offset, value=0),
        _slider("k", "offset k ", largest_offset, value=min(2, largest_offset)),
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
