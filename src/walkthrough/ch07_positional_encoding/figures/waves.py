"""Waves of the positional encoding (§3.5), their wavelengths, and the counter they resemble."""

import math
from typing import Any

import altair as alt
from jaxtyping import Float
from torch import Tensor

from walkthrough.drawing.channels import number_slider
from walkthrough.drawing.lines import Number, line_chart
from walkthrough.drawing.style import PALETTE, described, rounded, wrapped

BASE = 10_000.0


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
    length, d_model = even_size(encoding)
    pair = number_slider("pair", "pair i ", d_model // 2 - 1, start=min(2, d_model // 2 - 1))
    names = {"sine": "dimension 2i: sine", "cosine": "dimension 2i+1: cosine"}
    shown = alt.Chart(alt.Data(values=_pairs(encoding, base))).transform_filter(
        "datum.pair == pair"
    )
    shown = shown.transform_flatten(["position", "sine", "cosine"])
    bit = "the matching bit of a counter"
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


def _pairs(encoding: Tensor, base: Number) -> list[dict[str, Any]]:
    length, d_model = encoding.shape
    values = rounded(encoding)
    return [
        {
            "pair": pair,
            "bit": _nearest_bit(_wavelength(pair, d_model, base)),
            "position": list(range(length)),
            "sine": [row[2 * pair] for row in values],
            "cosine": [row[2 * pair + 1] for row in values],
        }
        for pair in range(d_model // 2)
    ]


def even_size(encoding: Tensor) -> tuple[int, int]:
    """Return (length, d_model).

    Raises:
        ValueError: d_model is odd.
    """
    length, d_model = encoding.shape
    if d_model % 2:
        raise ValueError(f"pairs of sine and cosine need an even d_model; got {d_model}")
    return length, d_model


def _wavelength(pair: int, d_model: int, base: Number) -> float:
    return 2 * math.pi * base ** (2 * pair / d_model)


def _nearest_bit(wavelength: Number) -> int:
    return max(0, round(math.log2(wavelength)) - 1)


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
    digits = base.mark_text(fontSize=12).encode(text="value:O", color=ink)
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
