"""The figures of chapter 20."""

from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import Any

import altair as alt
import pandas as pd
import seaborn
from jaxtyping import Float
from torch import Tensor

from walkthrough.ch20_what_came_after.experiments.compared import BLOCK_PEAK
from walkthrough.drawing.channels import line_channels, menu
from walkthrough.drawing.still import Still, canvas, still
from walkthrough.drawing.style import CATEGORIES, WEIGHT_SCHEME, described, rounded, wrapped
from walkthrough.lab import Key, compare, frame

SPREAD = ("pi", 100)
"""An interval over seeds: from the lowest to the highest."""
UPDATES, FLOPS = "updates", "billions of operations"
PATCH_PX = 152
"""Side of each of the two squares that show an image and where it is looked at."""


LOSS = "test/-/loss"


def is_short(key: Key) -> bool:
    """Whether a run of 20-block is one that the page is about: 250 updates, two rates."""
    return key.length == 250 and key.seed <= {1: 6, 0.3: 3}.get(key.rate, 0)


def verdicts(pairs: Iterable[tuple[str, str]]) -> pd.DataFrame:
    """Return a line for each (ours, base): where ours ends, and what the short runs say."""
    runs = frame("20-block").query("length == 250 and rate == 1")
    rows = []
    for ours, base in pairs:
        found = compare("20-block", ours, base, figure=LOSS, length=250, rate=1, only=is_short)
        ends = runs[(runs.arm == ours) & runs.seed.isin(found.seeds)][LOSS]
        rows.append(
            {
                "loss": ends.mean(),
                "lowest": ends.min(),
                "highest": ends.max(),
                "difference": found.mean,
                "±": found.high - found.mean,
                "lower in": f"{found.wins} of {found.n}",
                "verdict": "" if ours == base else found.verdict,
            }
        )
    return pd.DataFrame(rows)


# Images ------------------------------------------------------------------------------------------


def patch_explorer(
    images: Float[Tensor, "n side side"],
    weights: Float[Tensor, "n layers heads patches"],
    names: Sequence[str],
    *,
    title: str = "What the class token looks at",
) -> alt.HConcatChart:
    """Return an image and the class token's weights on its patches; menus choose which.

    Raises:
        ValueError: there is not one name an image.
    """
    if not len(images) == len(weights) == len(names):
        raise ValueError(f"got {len(images)} images, {len(weights)} maps and {len(names)} names")
    n_layers, n_heads, n_patches = weights.shape[1:]
    across = round(n_patches**0.5)
    rows = [
        {"image": name, "layer": layer + 1, "head": head + 1, "weights": rounded(one)}
        for name, of_image in zip(names, weights, strict=True)
        for layer, of_layer in enumerate(of_image)
        for head, one in enumerate(of_layer)
    ]
    pixels = [
        {"image": name, "pixels": rounded(image.flatten(), 2)}
        for name, image in zip(names, images, strict=True)
    ]
    choices = [
        menu("digit", list(names), "image "),
        menu("layer_shown", list(range(1, n_layers + 1)), "layer ", start=n_layers),
        menu("head_shown", list(range(1, n_heads + 1)), "head "),
    ]
    left = _squares(pixels, "pixels", images.shape[-1], "datum.image == digit", "greys", "pixel")
    chosen = "datum.image == digit && datum.layer == layer_shown && datum.head == head_shown"
    right = _squares(rows, "weights", across, chosen, WEIGHT_SCHEME, "weight")
    chart = alt.hconcat(left, right, spacing=12).resolve_scale(color="independent")
    chart = chart.add_params(*choices).properties(title=wrapped(title))
    words = (
        f"{title}. Left, a scanned digit of {images.shape[-1]} by {images.shape[-1]} pixels; "
        f"right, the attention weights of the class token on its {across} by {across} patches. "
        "Menus choose the image, the layer and the head."
    )
    return described(chart, words)


def _squares(
    rows: list[dict[str, Any]], field: str, across: int, chosen: str, scheme: Any, name: str
) -> alt.Chart:
    shown = alt.Chart(alt.Data(values=rows)).transform_filter(chosen)
    shown = shown.transform_flatten([field])
    shown = shown.transform_window(place="row_number()").transform_calculate(
        row=f"floor((datum.place - 1) / {across})", column=f"(datum.place - 1) % {across}"
    )
    return (
        shown.mark_rect()
        .encode(
            alt.X("column:O", axis=None),
            alt.Y("row:O", axis=None),
            alt.Color(f"{field}:Q", scale=alt.Scale(scheme=scheme), legend=None),
            tooltip=[alt.Tooltip(f"{field}:Q", title=name, format=".2f")],
        )
        .properties(width=PATCH_PX, height=PATCH_PX)
    )


def images_picture(runs: pd.DataFrame) -> Still:
    """Return the share of digits named rightly over the number of images to learn from."""
    runs = runs.query("order == 'as is' and kind in ['linear', 'convolution', 'ViT 2']")
    return lines_picture(
        runs.replace({"kind": {"ViT 2": "ViT, patches 2 × 2"}}),
        x="n_images",
        y="test/-/accuracy",
        hue="kind",
        title="With few images, the ViT comes last",
        x_title="images to learn from",
        y_title="share of digits named rightly",
    )


def bert_picture(runs: pd.DataFrame) -> Still:
    """Return the accuracy of judgements over the number of labelled sentences."""
    runs = runs.melt("arm", [name for name in runs if name.endswith(" labels/accuracy")])
    return lines_picture(
        runs.assign(labels=runs.variable.str.extract(r"(\d+) labels", expand=False).astype(int)),
        x="labels",
        y="value",
        hue="arm",
        title="Pre-training is worth many labels",
        x_title="labelled sentences",
        y_title="share judged rightly",
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
) -> Still:
    """Return lines of means over seeds on a logarithmic x axis, with the range as a band."""
    names = list(dict.fromkeys(runs[hue]))
    with canvas(420, 270) as (figure, axes):
        seaborn.lineplot(
            runs, x=x, y=y, hue=hue, style=hue, hue_order=names, style_order=names,
            palette=CATEGORIES[: len(names)], markers=True, errorbar=SPREAD, ax=axes,
        )  # fmt: skip
        axes.set(xscale="log", xlabel=x_title, ylabel=y_title, title=title)
        ticks = sorted(runs[x].unique())
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.minorticks_off()
        axes.legend(title=None)
    means = runs.groupby([hue, x], sort=False)[y].mean()
    said = "; ".join(
        f"{name}: " + ", ".join(f"{means[name, tick]:.2f} at {tick:g}" for tick in ticks)
        for name in names
    )
    return still(figure, alt=f"{title}. {y_title} over {x_title}, mean of seeds: {said}.")


# The block ---------------------------------------------------------------------------------------


def changes_picture(runs: pd.DataFrame, names: Iterable[str]) -> Still:
    """Return, for each change and rate, the difference to 2017's block: a dot a seed."""
    base = runs[runs.arm == "2017"].set_index(["rate", "seed"])[LOSS]
    keys = pd.MultiIndex.from_frame(runs[["rate", "seed"]])
    runs = runs.assign(gap=runs[LOSS].to_numpy() - base.reindex(keys).to_numpy())
    order = list(names)
    runs = runs[runs.arm.isin(order)].sort_values("rate")
    runs = runs.assign(peak=[f"peak rate {_power(BLOCK_PEAK * rate)}" for rate in runs.rate])
    title = "One change at a time"
    with canvas(420, 60 + 34 * len(order)) as (figure, axes):
        seaborn.pointplot(
            runs, x="gap", y="arm", hue="peak", order=order, dodge=0.36, errorbar=SPREAD,
            palette=CATEGORIES[:2], markers=["o", "s"], linestyle="none", markersize=5, ax=axes,
            err_kws={"linewidth": 1.6},
        )  # fmt: skip
        axes.axvline(0, color="black", linewidth=1)
        axes.set(xlabel="loss less that of 2017's block: left is better", ylabel="", title=title)
        axes.legend(title=None, loc="best")
    means = runs.groupby(["arm", "rate"])["gap"].mean()
    said = "; ".join(
        f"{name} "
        + " and ".join(f"{means[name, rate]:+.2f}" for rate in sorted(runs.rate.unique()))
        for name in order
    )
    return still(
        figure,
        alt=f"{title}: loss less that of 2017's block, at the lower and the higher rate, "
        f"mean of seeds: {said}.",
    )


def rates_picture(runs: pd.DataFrame) -> Still:
    """Return the loss after training over the peak rate, for shallow and deep stacks."""
    runs = runs.assign(peak=(BLOCK_PEAK * runs.rate).round(4))
    names = list(dict.fromkeys(runs.block))
    title = "A deep stack of 2017's blocks starts learning last"
    with canvas(420, 270, ncols=2, sharey=True) as (figure, both):
        for axes, n_layers in zip(both, (2, 12), strict=True):
            seaborn.lineplot(
                runs[runs.layers == n_layers], x="peak", y=LOSS, hue="block", style="block",
                hue_order=names, style_order=names, palette=CATEGORIES[: len(names)],
                markers=True, errorbar=SPREAD, ax=axes, legend=n_layers == 2,
            )  # fmt: skip
            ticks = sorted(runs.peak.unique())
            axes.set(xscale="log", xlabel="peak rate", ylabel="loss after training")
            axes.set_title(f"{n_layers} layers", fontsize=11)
            axes.set_xticks(ticks, [_power(tick) for tick in ticks])
            axes.minorticks_off()
        both[0].legend(title=None, fontsize=9)
        figure.suptitle(title, fontsize=13, fontweight="semibold", x=0.01, ha="left")
    means = runs.groupby(["layers", "block", "peak"])[LOSS].mean()
    said = "; ".join(
        f"{n} layers, {name}: " + ", ".join(f"{means[n, name, p]:.2f} at {p:g}" for p in ticks)
        for n in (2, 12)
        for name in names
    )
    return still(figure, alt=f"{title}. Loss, mean of seeds: {said}.")


def _power(rate: float) -> str:
    """Return 0.003 as 3e-3."""
    return f"{rate:.0e}".replace("e-0", "e-")


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
