"""Dropout draw by draw, the smoothed target and its loss, and curves, for chapter 13 (§5.4)."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd
import torch

from walkthrough.drawing.channels import line_channels, number_slider
from walkthrough.drawing.style import DASHES, NARROW, PALETTE, SIGNED_SCHEME, described, wrapped

LARGEST = 0.5
GOLD, OTHER = "the gold token", "every other token"
N_COMPONENTS, N_DRAWS = 8, 30
FIFTHS = alt.Axis(values=[0, 0.2, 0.4, 0.6, 0.8, 1], format=".1f")


def _signed_cells(part: alt.Chart, rows: Sequence[str], title: str = "") -> alt.LayerChart:
    """Return a map of the numbers in `kept`, a line a name; zeros are empty cells."""
    place = part.encode(
        alt.X("n:O", title=None, axis=None),
        alt.Y("word:N", sort=list(rows), title=None, axis=alt.Axis(ticks=False)),
    )
    scale = alt.Scale(scheme=SIGNED_SCHEME, domain=[-6, 6], clamp=True)
    shown = alt.condition("datum.kept == 0", alt.value(0), alt.value(1))
    colour = alt.Color("kept:Q", scale=scale, legend=None)
    layers = [
        place.mark_rect(stroke="#9a9a9a", strokeWidth=0.5).encode(colour, fillOpacity=shown),
        place.mark_text(fontSize=12, color="#1b1b1b").encode(
            alt.Text("kept:Q", format=".1f"), opacity=shown
        ),
    ]
    return alt.LayerChart(layer=layers).properties(width=NARROW, height=24 * len(rows), title=title)


def signed_rows(rows: Mapping[str, torch.Tensor]) -> alt.LayerChart:
    """Return vectors one under the other; zeros are empty cells."""
    values = [
        {"word": name, "n": n, "kept": round(value, 2)}
        for name, vector in rows.items()
        for n, value in enumerate(vector.tolist())
    ]
    words = "; ".join(
        f"{name}: {', '.join(f'{value:.1f}' for value in vector.tolist())}"
        for name, vector in rows.items()
    )
    chart = _signed_cells(alt.Chart(alt.Data(values=values)), list(rows))
    return described(chart, f"Vectors under each other. {words}.")


def dropout_explorer(words: Sequence[str], *, seed: int = 0) -> alt.VConcatChart:
    """Return vectors under dropout, and their mean over draws; sliders set p and the draw."""
    generator = torch.Generator().manual_seed(seed)
    x = (2 * torch.randn(len(words), N_COMPONENTS, generator=generator)).round(decimals=1)
    x[x == 0] = 0.4  # an empty cell is one that was dropped
    chance = torch.rand(N_DRAWS, *x.shape, generator=generator)
    rows = [
        {"draw": d + 1, "word": w, "n": n + 1, "x": round(value, 1), "u": round(u, 3)}
        for d, of_draw in enumerate(chance.tolist())
        for w, values, of_word in zip(words, x.tolist(), of_draw, strict=True)
        for n, (value, u) in enumerate(zip(values, of_word, strict=True))
    ]
    cells = alt.Chart(alt.Data(values=rows)).transform_calculate(
        kept="datum.u >= p ? datum.x / (1 - p) : 0"
    )
    one = cells.transform_filter("datum.draw == draw")
    many = cells.transform_filter("datum.draw <= draw").transform_aggregate(
        kept="mean(kept)", groupby=["word", "n"]
    )
    panels = [
        _signed_cells(one, words, "in this draw"),
        _signed_cells(many, words, "mean of all draws so far"),
    ]
    chart = alt.VConcatChart(vconcat=panels, spacing=14).add_params(
        number_slider("p", "p, the chance to be dropped ", 0.5, start=0.1, step=0.05),
        number_slider("draw", "draw ", N_DRAWS, smallest=1, start=8),
    )
    return described(
        chart,
        f"The vectors of {', '.join(words)}, eight numbers each. In a draw some cells are empty "
        "and the others larger; the mean over draws comes near the vectors without dropout.",
    )


def curves_chart(points: pd.DataFrame) -> alt.LayerChart:
    """Return perplexity update by update, seen and unseen sentences; a slider says where to stop.

    `points` has a row a point with the columns arm, split ("seen", "unseen"), update, perplexity.
    """
    arms = sorted(points["arm"].unique())
    rows = points.round({"perplexity": 3}).to_dict("records")
    stop = int(points["update"].max())
    first, every = (int(n) for n in sorted(points["update"].unique())[:2])
    lines = alt.Chart(alt.Data(values=rows)).transform_filter("datum.update <= stop")
    colour, _ = line_channels("arm:N", arms, alt.Legend(title=None, symbolType="stroke"))
    dash = alt.StrokeDash(
        "split:N",
        scale=alt.Scale(domain=["unseen", "seen"], range=[DASHES[0], DASHES[2]]),
        legend=alt.Legend(title=None, symbolType="stroke"),
    )
    x = alt.X("update:Q", title="update", scale=alt.Scale(domain=[0, stop]))
    y = alt.Y(
        "perplexity:Q",
        title="perplexity (mean of the seeds)",
        scale=alt.Scale(type="log", domain=[1, 4], clamp=True),
        axis=alt.Axis(values=[1, 1.2, 1.5, 2, 3, 4], format=".1~f"),
    )
    ends = lines.transform_filter("datum.update == stop").transform_calculate(
        label="format(datum.perplexity, '.2f')"
    )
    layers = [
        lines.mark_line(clip=True).encode(x, y, colour, strokeDash=dash),
        ends.mark_point(filled=True, size=60, opacity=1, clip=True).encode(x, y, colour),
        ends.transform_filter("datum.split == 'unseen'")
        .mark_text(align="right", dx=-8, dy=-9, fontSize=12)
        .encode(x, y, colour, text="label:N"),
    ]
    title = "Noise makes learning slower, and the unseen sentences better"
    chart = alt.LayerChart(layer=layers).add_params(
        number_slider("stop", "stop after ", stop, smallest=first, start=stop, step=every - first)
    )
    chart = chart.properties(width="container", height=240, title=wrapped(title))
    last = points[points["update"] == stop].set_index(["arm", "split"])["perplexity"]
    ends_in = ", ".join(f"{arm} {split} {value:.2f}" for (arm, split), value in last.items())
    return described(chart, f"{title}. Curves of perplexity; after {stop} updates: {ends_in}.")


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
