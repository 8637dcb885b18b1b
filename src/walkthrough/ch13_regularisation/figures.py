"""Label smoothing as a target distribution, and the loss it makes, for chapter 13 (§5.4)."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from walkthrough.drawing.channels import cycled, number_slider
from walkthrough.drawing.style import CATEGORIES, DASHES, NARROW, PALETTE, described, wrapped

LARGEST = 0.5
GOLD, OTHER = "the gold token", "every other token"
FIFTHS = alt.Axis(values=[0, 0.2, 0.4, 0.6, 0.8, 1], format=".1f")


def epsilon_slider(start: float) -> Any:
    """Return the parameter ε with a slider from 0 to 0.5.

    Raises:
        ValueError: the first value lies outside.
    """
    if not 0 <= start <= LARGEST:
        raise ValueError(f"smoothing must start in [0, {LARGEST}], got {start}")
    return number_slider("epsilon", "smoothing ε ", LARGEST, start=start, step=0.01)


def target_explorer(
    tokens: Sequence[str],
    gold: str,
    *,
    start: float = 0.1,
    title: str = "The target: a little is taken from the gold token and given to all",
    description: str | None = None,
) -> alt.LayerChart:
    """Return the smoothed target over a small vocabulary as bars; a slider sets ε.

    Raises:
        ValueError: the gold token is not among the tokens, or a token occurs twice.
    """
    if gold not in tokens or len(set(tokens)) != len(tokens):
        raise ValueError(f"{gold!r} must be one of different tokens, got {list(tokens)}")
    rows = [{"token": token, "gold": int(token == gold)} for token in tokens]
    shown = alt.Chart(alt.Data(values=rows)).transform_calculate(
        target=f"(1 - epsilon) * datum.gold + epsilon / {len(tokens)}",
        kind=f"datum.gold ? '{GOLD}' : '{OTHER}'",
        label="format(datum.target, '.4f')",
    )
    y = alt.Y("token:N", sort=list(tokens), title=None)
    x = alt.X(
        "target:Q",
        title="target probability",
        scale=alt.Scale(domain=[0, 1.15], nice=False),  # room for the label of the longest bar
        axis=FIFTHS,
    )
    colour = alt.Color(
        "kind:N",
        scale=alt.Scale(domain=[GOLD, OTHER], range=[PALETTE["vermilion"], PALETTE["blue"]]),
        legend=alt.Legend(title=None),
    )
    tooltip = ["token:N", alt.Tooltip("target:Q", title="target", format=".4f")]
    layers = [
        shown.mark_bar().encode(x, y, colour, tooltip=tooltip),
        shown.mark_text(align="left", dx=4, fontSize=12).encode(x, y, text="label:N"),
    ]
    chart = alt.LayerChart(layer=layers).add_params(epsilon_slider(start))
    chart = chart.properties(width="container", height=26 * len(tokens), title=wrapped(title))
    at_start = (1 - start) + start / len(tokens)
    words = (
        f"{title}. Bars of {len(tokens)} tokens and a slider for smoothing. At {start} the gold "
        f"token {gold} gets {at_start:.4f} and every other token {start / len(tokens):.4f}."
    )
    return described(chart, description or words)


def loss_explorer(
    vocab_size: int,
    *,
    start: float = 0.1,
    title: str = "Smoothed, the loss is lowest before the model is certain",
    description: str | None = None,
) -> alt.LayerChart:
    """Return the loss over the probability that the gold token gets; a slider sets ε.

    What is left is spread evenly over the other tokens, which is the best that can be done with
    it. The dashed line is the loss without smoothing, the point the lowest smoothed loss.

    Raises:
        ValueError: there are fewer than two tokens.
    """
    if vocab_size < 2:
        raise ValueError(f"a vocabulary needs at least 2 tokens, got {vocab_size}")
    others = vocab_size - 1
    gold = f"(1 - epsilon + epsilon / {vocab_size})"
    loss = (
        f"-{gold} * log(datum.p) - (epsilon * {others} / {vocab_size})"
        f" * log((1 - datum.p) / {others})"
    )
    names = ["smoothed", "not smoothed"]
    scale = alt.Scale(domain=names, range=[PALETTE["vermilion"], PALETTE["grey"]])
    legend = alt.Legend(title=None, symbolType="stroke")
    colour = alt.Color("line:N", scale=scale, legend=legend)
    dash = alt.StrokeDash(
        "line:N", scale=alt.Scale(domain=names, range=[DASHES[0], DASHES[4]]), legend=legend
    )
    x = alt.X(
        "p:Q",
        title="probability of the gold token",
        scale=alt.Scale(domain=[0, 1]),
        axis=FIFTHS,
    )
    y = alt.Y("loss:Q", title="loss (nats)", scale=alt.Scale(domain=[0, 8], clamp=True))
    places = [*(n / 200 for n in range(1, 199)), 0.995, 0.998, 0.999, 0.9995, 0.9999]
    points = alt.Chart(alt.Data(values=[{"p": p} for p in places]))
    smoothed = points.transform_calculate(loss=loss, line="'smoothed'")
    plain = points.transform_calculate(loss="-log(datum.p)", line="'not smoothed'")
    lowest = (
        alt.Chart(alt.Data(values=[{}]))
        .transform_calculate(p=f"min({gold}, 0.9999999)")
        .transform_calculate(loss=loss)
        .transform_calculate(
            label="'p = ' + format(datum.p, '.3f') + ', loss ' + format(datum.loss, '.2f')"
        )
    )
    text = lowest.mark_text(align="right", dy=-26, fontSize=12)
    layers = [
        plain.mark_line().encode(x, y, colour, strokeDash=dash),
        smoothed.mark_line().encode(x, y, colour, strokeDash=dash),
        lowest.mark_point(filled=True, size=70, color=PALETTE["vermilion"], opacity=1).encode(x, y),
        text.encode(x, y, text="label:N"),
    ]
    chart = alt.LayerChart(layer=layers).add_params(epsilon_slider(start))
    chart = chart.properties(width="container", height=230, title=wrapped(title))
    words = (
        f"{title}. Two curves of loss over the probability of the gold token, {vocab_size} tokens, "
        "and a slider for smoothing. Without smoothing the loss falls to 0 at probability 1. "
        f"With {start} it is lowest at {1 - start + start / vocab_size:.3f} and rises after that."
    )
    return described(chart, description or words)


def seeds_chart(
    measures: Mapping[str, Mapping[str, Sequence[float]]],
    *,
    title: str,
    description: str | None = None,
) -> alt.VConcatChart:
    """Return one row of points a setting for each measure: a point a seed, a tick for the mean.

    `measures[measure][setting]` holds the values of the seeds.

    Raises:
        ValueError: there is nothing to draw, or the measures have different settings.
    """
    settings = {tuple(values) for values in measures.values()}
    if len(settings) != 1 or not all(s for by in measures.values() for s in by.values()):
        raise ValueError(f"every measure needs values of the same settings, got {settings}")
    names = list(settings.pop())
    colour = alt.Color(
        "setting:N",
        scale=alt.Scale(domain=names, range=cycled(CATEGORIES, len(names))),
        legend=None,
    )
    panels = []
    for measure, by_setting in measures.items():
        rows = [
            {"setting": name, "value": float(f"{value:.5g}")}
            for name, values in by_setting.items()
            for value in values
        ]
        points = alt.Chart(alt.Data(values=rows))
        scale = alt.Scale(zero=False, nice=True, padding=8)  # a point must not lie on a label
        x = alt.X("value:Q", title=measure, scale=scale, axis=alt.Axis(tickCount=4))
        y = alt.Y("setting:N", sort=names, title=None, axis=alt.Axis(labelLimit=150))
        tooltip = [alt.Tooltip("setting:N"), alt.Tooltip("value:Q", title=measure)]
        mean = alt.X("mean(value):Q", title=measure)
        panels.append(
            alt.LayerChart(
                layer=[
                    points.mark_tick(thickness=3, size=20).encode(mean, y, colour),
                    points.mark_point(size=46, strokeWidth=2, opacity=1).encode(
                        x, y, colour, tooltip=tooltip
                    ),
                ]
            ).properties(width=NARROW - 20, height=26 * len(names))
        )
    chart = alt.VConcatChart(vconcat=panels).properties(title=wrapped(title, 40))
    words = "; ".join(
        f"{measure}: "
        + ", ".join(f"{name} {min(v):.4g} to {max(v):.4g}" for name, v in by_setting.items())
        for measure, by_setting in measures.items()
    )
    return described(chart, description or f"{title}. Points, one a seed. {words}.")
