"""Eq. 3 and the cost of a training run with sliders, for chapter 12 (§5.2, §5.3, §6.1)."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from walkthrough.drawing.channels import line_channels, menu, number_slider
from walkthrough.drawing.lines import Number
from walkthrough.drawing.style import PALETTE, described, wrapped

LONGEST = 20_000
"""Updates that the curve of Eq. 3 shows."""
EVERY = 100
PAPER = {"warmup": 4000, "d_model": 512, "scale": 1.0}
WIDTHS = (64, 128, 256, 512, 1024)


def rate_explorer(
    *,
    longest: int = LONGEST,
    every: int = EVERY,
    title: str = "Eq. 3: a rise in a line, a peak, a fall with the inverse root",
    description: str | None = None,
) -> alt.LayerChart:
    """Return Eq. 3 over the updates, with sliders for warm-up and scale and a choice of d_model.

    The paper's curve stays as a dashed line, and the peak has its values beside it.

    Raises:
        ValueError: the updates do not reach the paper's peak, or are too few to draw.
    """
    if not 1 <= every < PAPER["warmup"] < longest:
        raise ValueError(
            f"the curve must go beyond update {PAPER['warmup']} in steps below that, "
            f"got {longest} updates in steps of {every}"
        )
    updates = [1, *range(every, longest + 1, every)]
    params = [
        number_slider(
            "warmup_updates", "warm-up ", 16_000, start=PAPER["warmup"], smallest=500, step=500
        ),
        menu("width_of_model", WIDTHS, "d_model ", start=PAPER["d_model"]),
        number_slider("factor", "scale ", 3.0, start=PAPER["scale"], smallest=0.1, step=0.1),
    ]
    data = alt.Data(values=[{"update": update} for update in updates])
    x = alt.X(
        "update:Q",
        title="update",
        scale=alt.Scale(domain=[0, longest], nice=False),
        axis=alt.Axis(tickCount=5),
    )
    y = alt.Y("rate:Q", title="learning rate", axis=alt.Axis(format=".1e", tickCount=5))
    base = alt.Chart(data)
    paper = base.transform_calculate(rate=formula(**{k: str(v) for k, v in PAPER.items()}))
    chosen = base.transform_calculate(rate=CHOSEN)
    peak = alt.Chart(alt.Data(values=[{"peak": 1}])).transform_calculate(
        update="datum.peak * warmup_updates",
        rate="factor / sqrt(width_of_model * warmup_updates)",
        words="'peak ' + format(factor / sqrt(width_of_model * warmup_updates), '.2e') "
        "+ ' at update ' + format(warmup_updates, ',')",
    )
    tooltip = [
        alt.Tooltip("update:Q", title="update", format=","),
        alt.Tooltip("rate:Q", title="rate", format=".2e"),
    ]
    layers = [
        paper.mark_line(color=PALETTE["grey"], strokeDash=[4, 4], strokeWidth=1.5).encode(x, y),
        chosen.mark_line(color=PALETTE["blue"]).encode(x, y, tooltip=tooltip),
        peak.mark_point(filled=True, size=80, opacity=1, color=PALETTE["vermilion"]).encode(x, y),
        peak.mark_text(align="right", fontSize=12, fontWeight=600).encode(
            x=alt.value("width"), y=alt.value(-6), text="words:N"
        ),
    ]
    chart = alt.LayerChart(layer=layers).add_params(*params)
    chart = chart.properties(width="container", height=220, title=wrapped(title))
    return described(
        chart,
        description
        or f"{title}. The learning rate over {longest:,} updates. Sliders set warm-up and scale, "
        "a list sets d_model. The dashed line is the paper's: 4000, 512 and 1, with the peak of "
        "7.0e-4 at update 4000.",
    )


def formula(*, warmup: str, d_model: str, scale: str) -> str:
    """Return Eq. 3 in Vega's language, for `datum.update`."""
    return (
        f"{scale} / sqrt({d_model}) * "
        f"min(pow(datum.update, -0.5), datum.update * pow({warmup}, -1.5))"
    )


CHOSEN = formula(warmup="warmup_updates", d_model="width_of_model", scale="factor")


def days_explorer(
    costs: Mapping[str, Number],
    *,
    start: Number = 9.5,
    allowed: tuple[Number, Number] = (1e-6, 1e6),
    title: str = "How long a run takes with the hardware you set",
    description: str | None = None,
) -> alt.LayerChart:
    """Return the days that runs of given FLOPs take; sliders set TFLOP/s kept up, and devices.

    `start` is the rate at first, in TFLOP/s, and must lie in the range `allowed`.

    Raises:
        ValueError: no runs, a cost that is not positive, or a start that is out of range.
    """
    if not costs or min(costs.values()) <= 0:
        raise ValueError(f"every run needs a cost above 0, got {dict(costs)}")
    if not allowed[0] <= start <= allowed[1]:
        raise ValueError(
            f"the start must lie between {allowed[0]:g} and {allowed[1]:g} TFLOP/s, got {start}"
        )
    rows: list[dict[str, Any]] = [
        {"run": name, "flops": float(f"{flops:.4g}")} for name, flops in costs.items()
    ]
    params = [
        alt.param(
            "tera",
            value=start,
            bind=alt.binding(input="number", name="TFLOP/s kept up by one device "),
        ),
        number_slider("devices", "devices ", 64, start=1, smallest=1),
    ]
    base = (
        alt.Chart(alt.Data(values=rows))
        .transform_calculate(days="datum.flops / (max(tera, 1e-6) * 1e12 * devices) / 86400")
        .transform_calculate(
            words="datum.days < 1 ? format(datum.days * 24, '.3~r') + ' hours' : "
            "datum.days < 730 ? format(datum.days, '.3~r') + ' days' : "
            "format(datum.days / 365.25, '.3~r') + ' years'"
        )
        .encode(alt.Y("run:N", title=None, sort=None))
    )
    x = alt.X(
        "days:Q",
        title="days (each grid line is ten times more)",
        scale=alt.Scale(type="log", domain=[1e-3, 1e6], clamp=True),
        axis=alt.Axis(values=[10**n for n in range(-3, 7)], format=",~r", labelOverlap=True),
    )
    layers = [
        base.mark_point(filled=True, size=110, opacity=1, color=PALETTE["blue"]).encode(
            x, tooltip=[alt.Tooltip("run:N"), alt.Tooltip("words:N", title="takes")]
        ),
        base.mark_text(dy=-13, fontSize=12, fontWeight=600).encode(x, text="words:N"),
    ]
    chart = alt.LayerChart(layer=layers).add_params(*params)
    chart = chart.properties(width="container", height=58 * len(rows), title=wrapped(title))
    first = "; ".join(
        f"{row['run']}: {row['flops'] / start / 1e12 / 86400:.3g} days" for row in rows
    )
    return described(
        chart,
        description
        or f"{title}. One point a run on a logarithmic axis of days. Inputs set the TFLOP/s that "
        f"one device keeps up and the number of devices. With {start:g} TFLOP/s and one device: "
        f"{first}.",
    )


def step_sizes(
    runs: Mapping[str, Sequence[float]],
    *,
    changes_at: int,
    title: str,
    description: str | None = None,
) -> alt.LayerChart:
    """Return Adam's step over the updates, in learning rates, one line a constant.

    A dashed line marks the update `changes_at`, where the gradient changes its size.

    Raises:
        ValueError: no runs, or the change lies outside them.
    """
    longest = max((len(steps) for steps in runs.values()), default=0)
    if not 1 <= changes_at <= longest:
        raise ValueError(f"the change must lie in updates 1 … {longest}, got {changes_at}")
    rows = [
        {"run": name, "update": number, "step": float(f"{step:.3g}")}
        for name, steps in runs.items()
        for number, step in enumerate(steps, start=1)
    ]
    legend = alt.Legend(title="click to pick one", symbolType="stroke")
    pick = alt.selection_point(fields=["run"], bind="legend")
    colour, dash = line_channels("run:N", list(runs), legend)
    lines = (
        alt.Chart(alt.Data(values=rows))
        .mark_line()
        .encode(
            alt.X("update:Q", title="update", axis=alt.Axis(tickCount=6)),
            alt.Y("step:Q", title="step, in learning rates"),
            colour,
            strokeDash=dash,
            opacity=alt.condition(pick, alt.value(1), alt.value(0.15)),
            tooltip=["run:N", "update:Q", alt.Tooltip("step:Q", format=".3~g")],
        )
        .add_params(pick)
    )
    rule = alt.Chart(alt.Data(values=[{"update": changes_at}])).mark_rule(
        color=PALETTE["grey"], strokeDash=[4, 4]
    )
    chart = alt.LayerChart(layer=[rule.encode(x="update:Q"), lines])
    chart = chart.properties(width="container", height=200, title=wrapped(title))
    ends = "; ".join(f"{name} ends at {steps[-1]:.2g}" for name, steps in runs.items())
    return described(
        chart,
        description
        or f"{title}. One line a constant over {longest} updates; the gradient changes at update "
        f"{changes_at}. {ends}.",
    )
