"""The feed-forward network for chapter 05 (§3.3): its bends, its share of the cost, its width."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import torch
from jaxtyping import Float
from torch import Tensor

from transformer.analysis.cost import attention_flops, feed_forward_flops, forward_flops
from transformer.config import TransformerConfig
from walkthrough.drawing.channels import line_channels, menu, number_slider, point_channels
from walkthrough.drawing.style import CATEGORIES, PALETTE, described, rounded, wrapped

PARTS = ("feed-forward", "attention: projections", "attention: scores and values", "vocabulary")
LENGTHS = tuple(2**power for power in range(2, 14))
WHOLE, LAYER = "whole model", "one encoder layer"


def bends_explorer(
    x: Float[Tensor, " points"],
    target: Float[Tensor, " points"],
    fits: Mapping[int, Float[Tensor, " points"]],
    *,
    start: int | None = None,
    title: str = "Every hidden unit but the first bends the line once",
    slider: str = "hidden units ",
    names: tuple[str, str] = ("the curve", "the network"),
    description: str | None = None,
) -> alt.LayerChart:
    """Return a curve and what networks of several widths make of it; a slider chooses the width.

    Raises:
        ValueError: there are no fits, their widths are not 1, 2, 3, …, a fit has another length,
            or `start` is none of the widths.
    """
    widths = sorted(fits)
    if widths != list(range(1, len(widths) + 1)) or not widths:
        raise ValueError(f"the slider needs fits of widths 1, 2, 3, …; got {widths}")
    for width, fit in fits.items():
        if len(fit) != len(x) or len(target) != len(x):
            raise ValueError(f"width {width} has {len(fit)} values for {len(x)} points")
    start = widths[0] if start is None else start
    if start not in fits:
        raise ValueError(f"the slider must start at one of {widths}; got {start}")
    errors = {width: float((fit - target).abs().max()) for width, fit in fits.items()}
    curve_name, network_name = names
    rows = [
        {
            "line": network_name,
            "units": width,
            "x": rounded(x),
            "y": rounded(fit),
            "error": round(errors[width], 2),
        }
        for width, fit in fits.items()
    ]
    chosen = number_slider("n_units", slider, widths[-1], start=start, smallest=1)
    shown = alt.Chart(alt.Data(values=rows)).transform_filter("datum.units == n_units")
    curve = [
        {"line": curve_name, "x": a, "y": b}
        for a, b in zip(rounded(x), rounded(target), strict=True)
    ]
    heights = torch.cat([target, *fits.values()])
    # one scale for every width: the line moves, the axis does not
    scale = alt.Scale(domain=rounded([float(heights.min()), float(heights.max())]), nice=True)
    colour, dash = line_channels(
        "line:N",
        [network_name, curve_name],
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
        alt.Chart(alt.Data(values=curve)).mark_line().encode(*encodings),
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
        description
        or f"{title}. Two lines, {curve_name} (dashed) and {network_name} (solid); a slider "
        f"chooses the number of hidden units. Largest error by number of units: {words}.",
    )


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
    description: str | None = None,
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
    return described(chart, description or _shares_in_words(title, models, lengths))


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


def width_chart(
    runs: Sequence[Mapping[str, Any]],
    *,
    value: str,
    value_title: str,
    title: str,
    percent: bool = False,
    description: str | None = None,
) -> alt.Chart:
    """Return quality by feed-forward width: one point a run, of which `value` is drawn.

    A run holds `width`, `seed`, `kind` (what the networks are: it becomes colour and shape).

    Raises:
        ValueError: there are no runs.
    """
    if not runs:
        raise ValueError("a chart of widths needs at least one run; got none")
    fields = ("width", "seed", "kind", value)
    rows = [{field: run[field] for field in fields} for run in runs]
    kinds = list(dict.fromkeys(row["kind"] for row in rows))
    widths = sorted({row["width"] for row in rows})
    colour, shape = point_channels("kind:N", kinds, alt.Legend(title=None, columns=1))
    number_format = ".1%" if percent else ".3~g"
    chart = (
        alt.Chart(alt.Data(values=rows))
        .mark_point(filled=True, size=80, opacity=0.8)
        .encode(
            alt.X("width:O", title="hidden units of the feed-forward network", sort=widths),
            alt.Y(f"{value}:Q", title=value_title, scale=alt.Scale(zero=False)).axis(
                format="%" if percent else "~g"
            ),
            color=colour,
            shape=shape,
            tooltip=[
                "width:O",
                "kind:N",
                "seed:O",
                alt.Tooltip(f"{value}:Q", title=value_title, format=number_format),
            ],
        )
        .properties(width="container", height=220, title=wrapped(title))
    )
    means = []
    for kind in kinds:
        for width in widths:
            found = [row[value] for row in rows if (row["kind"], row["width"]) == (kind, width)]
            if found:
                mean = sum(found) / len(found)
                means.append(
                    f"{kind}, width {width}: {mean:.1%}"
                    if percent
                    else f"{kind}, width {width}: {mean:.3g}"
                )
    words = f"{title}. {value_title}, means over the seeds. {'; '.join(means)}."
    return described(chart, description or words)


def units_explorer(
    wakes: Mapping[str, Mapping[str, float]],
    *,
    title: str = "What wakes a trained unit",
    label: str = "unit ",
    x_title: str = "mean of the unit over the places of the word",
    description: str | None = None,
) -> alt.Chart:
    """Return the words that wake a hidden unit most; a selector chooses the unit.

    `wakes[unit][word]` is the unit's mean over the places where the word stands.

    Raises:
        ValueError: there are no units, or a unit has no words.
    """
    if not wakes or not all(wakes.values()):
        raise ValueError(f"a chart of units needs units with words; got {dict(wakes)}")
    rows = [
        {"unit": unit, "word": word, "rank": rank, "value": float(f"{value:.3g}")}
        for unit, words in wakes.items()
        for rank, (word, value) in enumerate(words.items())
    ]
    largest = max(len(words) for words in wakes.values())
    chart = (
        alt.Chart(alt.Data(values=rows))
        .transform_filter("datum.unit == unit")
        .mark_bar(color=PALETTE["blue"])
        .encode(
            alt.X("value:Q", title=x_title, scale=alt.Scale(zero=True)),
            alt.Y(
                "word:N",
                sort=alt.EncodingSortField("rank", op="min"),
                title=None,
                axis=alt.Axis(minExtent=90, maxExtent=90),
            ),
            tooltip=["word:N", alt.Tooltip("value:Q", title="mean", format=".2f")],
        )
        .add_params(menu("unit", list(wakes), label))
        .properties(width="container", height=24 * largest, title=wrapped(title))
    )
    words = "; ".join(f"{unit}: {', '.join(list(w)[:4])}" for unit, w in wakes.items())
    said = f"{title}. Bars, a selector chooses the unit. Words that wake each most: {words}."
    return described(chart, description or said)
