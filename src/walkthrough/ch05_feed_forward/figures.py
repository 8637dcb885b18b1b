"""The feed-forward network for chapter 05 (§3.3): one word through it, its bends, its share."""

import html
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import torch
from jaxtyping import Float
from torch import Tensor

from transformer.analysis.cost import attention_flops, feed_forward_flops, forward_flops
from transformer.config import TransformerConfig
from walkthrough.drawing.channels import line_channels, menu, number_slider, point_channels
from walkthrough.drawing.look import OUTPUT, VECTOR
from walkthrough.drawing.scene import Scene, at, curve, glides, middles, scene
from walkthrough.drawing.style import CATEGORIES, PALETTE, described, rounded, wrapped

PARTS = ("feed-forward", "attention: projections", "attention: scores and values", "vocabulary")
LENGTHS = tuple(2**power for power in range(2, 14))
WHOLE, LAYER = "whole model", "one encoder layer"
UNIT = PALETTE["sky"]
_MINUS = "\N{MINUS SIGN}"

_CSS = """
#scene-units .stage{display:grid;height:15em;
grid-template-columns:auto minmax(2.6em,1fr) auto minmax(2.6em,1fr) auto}
#scene-units .side{display:flex;flex-direction:column}
#scene-units .side>div{flex:1;display:grid;align-content:center;min-height:0}
#scene-units .box{position:relative;padding:.32em .6em;border-radius:6px;text-align:center;
border:1px solid color-mix(in srgb,currentColor 30%,transparent);z-index:0}
#scene-units .box i{position:absolute;inset:0;z-index:-1;border-radius:5px;
opacity:var(--a,var(--z))}
#scene-units .box b{font-weight:600}
#scene-units .box em{display:block;font-style:normal;white-space:nowrap}
#scene-units .mid{position:relative}
#scene-units .mid svg{position:absolute;inset:0}
.scene .edge{opacity:.2;stroke-width:2.5;transition:opacity .35s}
"""


def through_units(
    words: Sequence[str],
    features: Sequence[str],
    x: Float[Tensor, "words d_model"],
    units: Sequence[str],
    w1: Float[Tensor, "d_model d_ff"],
    b1: Float[Tensor, " d_ff"],
    w2: Float[Tensor, "d_ff d_model"],
    *,
    first: int = 1,
    question: str = "Which word thinks?",
) -> Scene:
    """Return what a word holds, the units that ask about it, and what the awake ones write."""
    before = x @ w1 + b1
    output = torch.relu(before) @ w2
    asked = [n for n in range(len(features)) if w1[n].any()]
    asked += [n for n in range(len(features)) if x[:, n].any() and n not in asked]
    asked.sort()
    written = [n for n in range(len(features)) if w2[:, n].any()]
    left, middle, right = (middles(n, n) for n in (len(asked), len(units), len(written)))
    into = [
        (left[row], middle[unit], _frames(x[:, n] != 0), float(w1[n, unit]))
        for row, n in enumerate(asked)
        for unit in range(len(units))
        if w1[n, unit]
    ]
    out = [
        (middle[unit], right[row], _frames(before[:, unit] > 0), float(w2[unit, n]))
        for row, n in enumerate(written)
        for unit in range(len(units))
        if w2[unit, n]
    ]
    sums = [
        "".join(
            f"<span{at(row, first=first, more='num')}>{_sum(word, weights, level)}</span>"
            for row, word in enumerate(x)
        )
        for weights, level in zip(w1.T, b1, strict=True)
    ]
    says = [
        _said(
            html.escape(word),
            [features[n] for n in asked if x[row, n]],
            [name for name, value in zip(units, before[row], strict=True) if value > 0],
            [features[n] for n in written if output[row, n]],
        )
        for row, word in enumerate(words)
    ]
    return scene(
        "units",
        _column([features[n] for n in asked], [x[:, n] for n in asked], VECTOR, first)
        + _edges(into, VECTOR)
        + _column(units, list(torch.relu(before).T), UNIT, first, below=sums)
        + _edges(out, OUTPUT)
        + _column([features[n] for n in written], [output[:, n] for n in written], OUTPUT, first),
        question=question,
        choices=[html.escape(word) for word in words],
        says=says,
        first=first,
        css=_CSS,
    )


def _frames(shown: Tensor) -> list[int]:
    return [n for n, is_shown in enumerate(shown.tolist()) if is_shown]


def _column(
    names: Sequence[str],
    values: Sequence[Tensor],
    ink: str,
    first: int,
    below: Sequence[str] = (),
) -> str:
    boxes = ""
    for n, (name, by_word) in enumerate(zip(names, values, strict=True)):
        strengths = [f"{0.6 * min(max(float(value), 0.0), 1.0):g}" for value in by_word]
        style = f"background:{ink};--z:{strengths[first]};{glides(strengths)}"
        boxes += (
            f'<div><div class="box"><i class="glides" style="{style}"></i>'
            f"<b>{html.escape(name)}</b>{f'<em>{below[n]}</em>' if below else ''}</div></div>"
        )
    return f'<div class="side">{boxes}</div>'


def _edges(edges: Sequence[tuple[float, float, list[int], float]], ink: str) -> str:
    """Curves between two columns, strong in their frames; one of negative weight is dashed."""
    paths = "".join(
        f'<path class="{" ".join(["edge", *(f"on-{n}" for n in frames)])}" d="{curve(start, end)}" '
        f'stroke="{ink}" stroke-dasharray="{"5,4" if weight < 0 else "none"}"/>'
        for start, end, frames, weight in edges
    )
    return (
        '<div class="mid"><svg class="stretch" viewBox="0 0 100 100" preserveAspectRatio="none" '
        f'aria-hidden="true">{paths}</svg></div>'
    )


def _sum(x: Tensor, weights: Tensor, bias: Tensor) -> str:
    """Write out what a unit adds up, and what is left of it above zero."""
    parts = [float(part) for part in x * weights if part] + [float(bias)] * bool(bias)
    first, *others = parts or [0.0]
    terms = _number(first)
    terms += "".join(f" {_MINUS if part < 0 else '+'} {abs(part):g}" for part in others)
    total = sum(parts)
    equals = f" = {_number(total)}" if others else ""
    return f"{terms}{equals} → {max(total, 0.0):g}"


def _number(value: float) -> str:
    return f"{value:g}".replace("-", _MINUS)


def _said(word: str, holds: list[str], awake: list[str], writes: list[str]) -> str:
    told = f"<i>{word}</i> holds {', '.join(holds)}. "
    if not awake:
        return f"{told}No unit wakes, and nothing is written."
    return f"{told}Awake: “{'”, “'.join(awake)}”. It writes {', '.join(writes)}."


def bends_explorer(
    x: Float[Tensor, " points"],
    target: Float[Tensor, " points"],
    fits: Mapping[int, Float[Tensor, " points"]],
    *,
    start: int = 1,
    title: str = "Every hidden unit but the first bends the line once",
    slider: str = "hidden units ",
    names: tuple[str, str] = ("the network", "the curve"),
) -> alt.LayerChart:
    """Return a curve and what networks of several widths make of it; a slider chooses the width.

    Raises:
        ValueError: the widths are not 1, 2, 3, …, or a fit has another length than the curve.
    """
    widths = sorted(fits)
    if widths != list(range(1, len(widths) + 1)) or not widths:
        raise ValueError(f"the slider needs fits of widths 1, 2, 3, …; got {widths}")
    for width, fit in fits.items():
        if len(fit) != len(x) or len(target) != len(x):
            raise ValueError(f"width {width} has {len(fit)} values for {len(x)} points")
    errors = {width: round(float((fit - target).abs().max()), 2) for width, fit in fits.items()}
    rows = [
        {"line": names[0], "units": n, "x": rounded(x), "y": rounded(fit), "error": errors[n]}
        for n, fit in fits.items()
    ]
    curve_rows = [
        {"line": names[1], "x": a, "y": b} for a, b in zip(rounded(x), rounded(target), strict=True)
    ]
    chosen = number_slider("n_units", slider, widths[-1], start=start, smallest=1)
    shown = alt.Chart(alt.Data(values=rows)).transform_filter("datum.units == n_units")
    heights = torch.cat([target, *fits.values()])
    # one scale for every width: the line moves, the axis does not
    scale = alt.Scale(domain=rounded([float(heights.min()), float(heights.max())]), nice=True)
    colour, dash = line_channels(
        "line:N",
        list(names),
        alt.Legend(title=None, symbolType="stroke"),
        colours=[PALETTE["blue"], PALETTE["grey"]],
    )
    encodings = (
        alt.X("x:Q", title="input", axis=alt.Axis(tickCount=5)),
        alt.Y("y:Q", title="output", scale=scale),
        colour,
        dash,
    )
    layers = [
        alt.Chart(alt.Data(values=curve_rows)).mark_line().encode(*encodings),
        shown.transform_flatten(["x", "y"]).mark_line().encode(*encodings),
        shown.transform_calculate(words="'largest error ' + format(datum.error, '.2f')")
        .mark_text(align="left", fontSize=12, fontWeight=600)
        .encode(x=alt.value(6), y=alt.value(210), text="words:N"),
    ]
    chart = alt.LayerChart(layer=layers).add_params(chosen)
    chart = chart.properties(width="container", height=220, title=wrapped(title))
    words = ", ".join(f"{width}: {error:.2f}" for width, error in errors.items())
    return described(
        chart,
        f"{title}. Two lines, {names[1]} (dashed) and {names[0]} (solid); a slider chooses the "
        f"number of hidden units. Largest error by number of units: {words}.",
    )


def missed_chart(
    runs: Sequence[Mapping[str, float | str]],
    *,
    title: str = "What a trained network misses: a point a run, a line through the means",
    label: str = "updates ",
) -> alt.LayerChart:
    """Return the share missed by width and bend; a selector chooses the number of updates.

    A run holds `bend`, `width`, `length` (its updates), `seed` and `missed`.
    """
    rows = [{k: run[k] for k in ("bend", "width", "length", "seed", "missed")} for run in runs]
    bends = list(dict.fromkeys(str(row["bend"]) for row in rows))
    lengths = sorted({int(row["length"]) for row in rows}, reverse=True)
    shown = alt.Chart(alt.Data(values=rows)).transform_filter("datum.length == updates")
    legend = alt.Legend(title=None)
    x = alt.X("width:O", title="hidden units (SwiGLU: two thirds of them)")
    scale = alt.Scale(type="log", domain=[1e-4, 1])
    axis = alt.Axis(format="~%", values=[0.0001, 0.001, 0.01, 0.1, 1])
    how: Any = {"title": "share of the variance missed", "scale": scale, "axis": axis}
    colour, dash = line_channels("bend:N", bends, legend)
    lines = shown.mark_line().encode(x, alt.Y("mean(missed):Q", **how), colour, dash)
    colour, shape = point_channels("bend:N", bends, legend)
    tooltip = ["bend:N", "seed:O", alt.Tooltip("missed:Q", format=".2%")]
    points = shown.mark_point(filled=True, size=50, opacity=0.7).encode(
        x, alt.Y("missed:Q", **how), colour, shape, tooltip=tooltip
    )
    chart = alt.LayerChart(layer=[lines, points]).add_params(menu("updates", lengths, label))
    chart = chart.properties(width="container", height=240, title=wrapped(title))
    means = []
    for bend in bends:
        for width in dict.fromkeys(row["width"] for row in rows):
            key = (bend, width, lengths[0])
            values = [r["missed"] for r in rows if (r["bend"], r["width"], r["length"]) == key]
            means.append(f"{bend} {width}: {sum(map(float, values)) / len(values):.2%}")
    return described(chart, f"{title}. Means after {lengths[0]} updates: {'; '.join(means)}.")


def flops_by_part(config: TransformerConfig, length: int, *, scope: str = WHOLE) -> dict[str, int]:
    """Return the FLOPs of one forward pass by part, source and target both `length` long.

    `scope` is the whole model or one encoder layer, which has no vocabulary part.

    Raises:
        ValueError: an unknown scope, or a length below 1.
    """
    if scope not in (WHOLE, LAYER):
        raise ValueError(f"scope must be {WHOLE!r} or {LAYER!r}, got {scope!r}")
    one = attention_flops(config, query_len=length, key_len=length)
    feed_forward = feed_forward_flops(config, length=length)
    n_attentions, n_feed_forwards, vocabulary = 1, 1, 0
    if scope == WHOLE:  # an encoder layer has one attention, a decoder layer two
        n_attentions, n_feed_forwards = 3 * config.n_layers, 2 * config.n_layers
        whole = forward_flops(config, source_len=length, target_len=length)
        vocabulary = whole.projection
    parts = (
        n_feed_forwards * feed_forward,
        n_attentions * one.projections,
        n_attentions * (one.weights + one.values),
        vocabulary,
    )
    return dict(zip(PARTS, parts, strict=True))


def flops_explorer(
    models: Mapping[str, TransformerConfig],
    *,
    lengths: Sequence[int] = LENGTHS,
    title: str = "The longer the sentence, the more of the work is scores and values",
    model_label: str = "model ",
    scope_label: str = "count ",
    x_title: str = "words in the sentence",
) -> alt.Chart:
    """Return the share of each part in the FLOPs over sentence length; model and scope selectable.

    Raises:
        ValueError: there are no models or no lengths.
    """
    if not models or not lengths:
        raise ValueError(f"shares need models and lengths; got {list(models)} and {list(lengths)}")
    rows = [
        {"model": name, "scope": scope, "length": n, "part": part, "flops": flops, "order": order}
        for name, config in models.items()
        for scope in (WHOLE, LAYER)
        for n in lengths
        for order, (part, flops) in enumerate(flops_by_part(config, n, scope=scope).items())
    ]
    chosen = [
        menu("model", list(models), model_label),
        menu("scope", [LAYER, WHOLE], scope_label),
    ]
    scale = alt.Scale(type="log", base=2, domain=[lengths[0], lengths[-1]], nice=False)
    chart = (
        alt.Chart(alt.Data(values=rows))
        .transform_filter("datum.model == model && datum.scope == scope")
        .transform_joinaggregate(total="sum(flops)", groupby=["length"])
        .transform_calculate(share="datum.flops / datum.total")
        .mark_area(line=False, opacity=0.9)
        .encode(
            alt.X("length:Q", title=x_title, scale=scale, axis=alt.Axis(tickCount=6, format="d")),
            alt.Y("share:Q", title="share of operations", axis=alt.Axis(format="%"))
            .stack("zero")
            .scale(domain=[0, 1]),
            color=alt.Color(
                "part:N",
                scale=alt.Scale(domain=list(PARTS), range=CATEGORIES[: len(PARTS)]),
                legend=alt.Legend(title=None, columns=1),
            ),
            order=alt.Order("order:Q"),
            tooltip=[
                alt.Tooltip("part:N", title="part"),
                alt.Tooltip("length:Q", title="words"),
                alt.Tooltip("share:Q", title="share", format=".1%"),
                alt.Tooltip("flops:Q", title="operations", format=".3~s"),
            ],
        )
        .add_params(*chosen)
        .properties(width="container", height=240, title=wrapped(title))
    )
    return described(chart, _shares_in_words(title, models, lengths))


def _shares_in_words(
    title: str, models: Mapping[str, TransformerConfig], lengths: Sequence[int]
) -> str:
    parts = []
    for name, config in models.items():
        ends = []
        for n in (lengths[0], lengths[-1]):
            flops = flops_by_part(config, n, scope=LAYER)
            ends.append(f"{flops[PARTS[0]] / sum(flops.values()):.0%} at {n} words")
        parts.append(f"{name}: {', '.join(ends)}")
    return (
        f"{title}. Stacked areas, one for each of {', '.join(PARTS)}; selectors choose the model "
        f"and whether one encoder layer or the whole model is counted. Share of the feed-forward "
        f"network in one encoder layer: {'; '.join(parts)}."
    )
