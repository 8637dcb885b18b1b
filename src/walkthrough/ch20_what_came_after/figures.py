"""The figures of chapter 20: whose mask, asked or taught, images, blocks, the missing encoder."""

import re
from collections.abc import Mapping, Sequence
from itertools import product
from statistics import fmean

import altair as alt
import pandas as pd
import seaborn
import torch
from jaxtyping import Float
from torch import Tensor

from transformer.config import BOS_ID, TransformerConfig
from walkthrough.ch20_what_came_after.experiments.compared import BLOCK_PEAK
from walkthrough.ch20_what_came_after.stream import SIGHTS, Stack
from walkthrough.drawing.channels import line_channels, menu
from walkthrough.drawing.grids import Grid, grids
from walkthrough.drawing.scene import Scene
from walkthrough.drawing.still import SIGNED_COLOURS, Still, canvas, still
from walkthrough.drawing.style import CATEGORIES, PALETTE, described, wrapped

SPREAD = ("pi", 100)
"""An interval over seeds: from the lowest to the highest."""
UPDATES, FLOPS = "updates", "billions of operations"


LOSS = "test/-/loss"
SOURCE, TARGET = "Jane visite Rome", "Jane visits Rome"


def one_stack() -> Scene:
    """Return which word may look at which, a colour a rule: in 2017, BERT, GPT, a prefix model."""
    words = [*SOURCE.split(), "→", *TARGET.split()]
    tokens = torch.tensor([[5, 6, 7, BOS_ID, 8, 9, 10]])
    config = TransformerConfig(vocab_size=11, d_model=8, n_heads=1, n_layers=1, d_ff=8)
    seen = {sight: Stack(config, sight).mask(tokens).expand(1, 1, 7, 7)[0, 0] for sight in SIGHTS}
    of_2017 = seen["prefix"].clone()
    of_2017[:3, 3] = False  # the arrow is the decoder's
    both_ways, backwards, across = range(3)
    rules = torch.full((4, 7, 7), backwards)
    rules[0, 3:, :3] = across
    rules[1] = both_ways
    rules[[0, 3], :3] = both_ways
    frames = [
        (
            "2017",
            of_2017,
            "Two stacks, three rules. The encoder's words see each other "
            f"{_inked('both ways', both_ways)}. The decoder's see "
            f"{_inked('all of these', across)}, and of their own "
            f"{_inked('none that comes later', backwards)}.",
        ),
        (
            "BERT",
            seen["both ways"],
            f"One stack, in which every word sees {_inked('both ways', both_ways)}. It reads, and "
            "cannot write: the next word is in sight.",
        ),
        (
            "GPT",
            seen["backwards"],
            f"One stack that {_inked('looks backwards', backwards)}. While it reads <em>Jane</em>, "
            "it does not know yet what she does.",
        ),
        (
            "prefix model",
            seen["prefix"],
            f"One stack: French {_inked('both ways', both_ways)}, English "
            f"{_inked('backwards', backwards)}. What is gone is the second set of weights.",
        ),
    ]
    names, masks, says = zip(*frames, strict=True)
    return grids(
        "stacks",
        [Grid("", words, words, masks, list(rules))],
        question="Whose mask?",
        choices=names,
        says=says,
    )


def _inked(words: str, rule: int) -> str:
    return f'<span style="border-bottom:3px solid {CATEGORIES[rule]}">{words}</span>'


def rope_picture(scores: Float[Tensor, "queries keys"], words: Sequence[str]) -> Still:
    """Return the scores of one query and one key, each turned by its word's position."""
    title = "Scores of one query and one key"
    with canvas(380, 230) as (figure, axes):
        reach = 1.6 * float(scores.abs().max())  # pale enough for the numbers
        axes.imshow(scores.numpy(), cmap=SIGNED_COLOURS, vmin=-reach, vmax=reach, aspect="auto")
        for row, column in product(range(len(words)), repeat=2):
            told = f"{scores[row, column]:.1f}"
            axes.text(column, row, told, ha="center", va="center", color="#1b1b1b")
        axes.set_xticks(range(len(words)), words)
        axes.set_yticks(range(len(words)), words)
        axes.set(title=title, xlabel="key at", ylabel="query at")
    said = "; ".join(f"{n} to the right {scores[0, n]:.1f}" for n in range(len(words)))
    return still(figure, alt=f"{title}. Each diagonal holds one score: {said}.")


def patches_picture(image: Float[Tensor, "side side"], size: int) -> Still:
    """Return an image cut into patches, which are numbered as they are read."""
    side = len(image)
    with canvas(230, 230) as (figure, axes):
        axes.imshow(image.numpy(), cmap="Greys", vmax=2)
        for n, (row, column) in enumerate(product(range(0, side, size), repeat=2), start=1):
            axes.text(column, row, str(n), color=PALETTE["vermilion"])
        edges = [edge - 0.5 for edge in range(0, side + 1, size)]
        axes.set_xticks(edges, [])
        axes.set_yticks(edges, [])
        axes.grid(color=PALETTE["vermilion"])
    n = (side // size) ** 2
    return still(figure, alt=f"A scanned digit under a net of {n} squares, numbered row by row.")


def bert_picture(runs: pd.DataFrame) -> Still:
    """Return the accuracy of judgements over labels, after the longer fine-tuning, and asked."""
    labels = [name for name in runs if re.fullmatch(r"test/\d+ labels/accuracy", name)]
    told = runs.melt("arm", labels)
    return lines_picture(
        told.assign(labels=told.variable.str.extract(r"(\d+) labels", expand=False).astype(int)),
        x="labels",
        y="value",
        hue="arm",
        level=("asked, with no label", runs["test/asked/accuracy"].mean()),
        title="Asked, it knows what 1600 labels teach",
        x_title="labelled sentences",
        y_title="share judged rightly",
    )


def images_picture(runs: pd.DataFrame, linear: Mapping[int, float]) -> Still:
    """Return the share of digits named rightly over the number of images to learn from."""
    pixels = [
        {"kind": "linear", "n_images": n, "test/-/accuracy": share} for n, share in linear.items()
    ]
    return lines_picture(
        pd.concat([runs, pd.DataFrame(pixels)]),
        x="n_images",
        y="test/-/accuracy",
        hue="kind",
        title="With few images, the vision transformer comes last",
        x_title="images to learn from",
        y_title="share of digits named rightly",
    )


def blocks_picture(runs: pd.DataFrame, names: Sequence[str]) -> Still:
    """Return the loss of some blocks over the peak rate."""
    return lines_picture(
        runs[runs.arm.isin(names)].assign(peak=(BLOCK_PEAK * runs.rate).round(4)),
        x="peak",
        y=LOSS,
        hue="arm",
        order=names,
        log_y=True,
        title="Today's block bears a steeper rate",
        x_title="peak rate",
        y_title="loss on new sentences",
    )


def lines_picture(
    runs: pd.DataFrame,
    *,
    x: str,
    y: str,
    hue: str,
    title: str,
    x_title: str,
    y_title: str,
    order: Sequence[str] = (),
    level: tuple[str, float] | None = None,
    log_y: bool = False,
) -> Still:
    """Return lines of means over seeds on a logarithmic x axis, with the range as a band.

    `level` is a name and where its line lies, the same for every x.
    """
    names = list(order) or list(dict.fromkeys(runs[hue]))
    ticks = sorted(runs[x].unique())
    with canvas(420, 270) as (figure, axes):
        seaborn.lineplot(
            runs, x=x, y=y, hue=hue, style=hue, hue_order=names, style_order=names,
            palette=CATEGORIES[: len(names)], markers=True, errorbar=SPREAD, ax=axes,
        )  # fmt: skip
        if level:
            axes.axhline(level[1], color="black", linestyle=":", label=level[0])
        axes.set(xscale="log", xlabel=x_title, ylabel=y_title, title=title)
        if log_y:
            axes.set(yscale="log")
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.minorticks_off()
        axes.legend(title=None, loc="lower right" if level else "best")
    means = runs.groupby([hue, x], sort=False)[y].mean()
    said = "; ".join(
        f"{name}: " + ", ".join(f"{means[name, tick]:.2g} at {tick:g}" for tick in ticks)
        for name in names
    )
    if level:
        said += f"; {level[0]}: {level[1]:.2g}"
    return still(figure, alt=f"{title}. {y_title} over {x_title}, mean of seeds: {said}.")


# The missing encoder -----------------------------------------------------------------------------


def cost_explorer(
    runs: pd.DataFrame,
    *,
    title: str = "What the missing encoder costs, and what it saves",
) -> alt.LayerChart:
    """Return learning curves of the models with and without an encoder; a menu sets the axis."""
    names = list(dict.fromkeys(runs.arm))
    rows = []
    for kind, same in runs.groupby("arm", sort=False):
        flops = fmean(extra["megaflops"] for extra in same.extra)
        for points in zip(*same.curve, strict=True):
            update, losses = points[0][0], [loss for _, _, loss in points]
            rows.append(
                {
                    "kind": kind,
                    "update": update,
                    "operations": round(update * flops / 1000, 1),
                    "loss": round(fmean(losses), 4),
                    "low": round(min(losses), 4),
                    "high": round(max(losses), 4),
                }
            )
    axis = menu("cost", [UPDATES, FLOPS], "over ")
    data = alt.Chart(alt.Data(values=rows)).transform_calculate(
        x=f"cost == '{UPDATES}' ? datum.update : datum.operations"
    )
    x = alt.X("x:Q", title="updates, or billions of operations")
    y = alt.Y("loss:Q", title="loss on new sentences", scale=alt.Scale(type="log", nice=False))
    legend = alt.Legend(
        title=None, columns=1, symbolType="stroke", symbolOpacity=1, symbolStrokeWidth=2
    )
    colour, dash = line_channels("kind:N", names, legend)
    tooltip = [
        alt.Tooltip("kind:N", title="model"),
        alt.Tooltip("update:Q", title="updates"),
        alt.Tooltip("operations:Q", title=FLOPS),
        alt.Tooltip("loss:Q", format=".3f"),
    ]
    layers = [
        data.mark_area(opacity=0.18).encode(x, alt.Y("low:Q"), alt.Y2("high:Q"), colour),
        data.mark_line().encode(x, y, colour, dash),
        data.mark_point(filled=True, size=30).encode(x, y, colour, tooltip=tooltip),
    ]
    chart = alt.LayerChart(layer=layers).add_params(axis)
    chart = chart.properties(width="container", height=240, title=wrapped(title))
    ends = "; ".join(
        f"{name} ends at {next(r['loss'] for r in reversed(rows) if r['kind'] == name):.2g} after "
        f"{next(r['operations'] for r in reversed(rows) if r['kind'] == name):.0f}"
        for name in names
    )
    words = f"{title}. Learning curves, mean of seeds with their range; a menu puts updates or "
    return described(chart, f"{words}{FLOPS} on the axis. {ends} {FLOPS}.")
