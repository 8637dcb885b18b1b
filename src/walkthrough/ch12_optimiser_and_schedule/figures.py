"""Runs by their highest rate, Adam's first step, and Eq. 3 with sliders, for chapter 12 (§5.3)."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
from jaxtyping import Float
from matplotlib.figure import Figure
from torch import Tensor

from walkthrough.drawing.channels import line_channels, menu, number_slider
from walkthrough.drawing.still import FONT_SIZE, PHONE, Still, canvas, still
from walkthrough.drawing.style import PALETTE, described, wrapped

LONGEST = 20_000
"""Updates that the curve of Eq. 3 shows."""
EVERY = 100
PAPER = {"warmup": 4000, "d_model": 512, "scale": 1.0}
WIDTHS = (64, 128, 256, 512, 1024)


WITH, WITHOUT = "with a warm-up", "without"


def runs_explorer(
    runs: Sequence[Mapping[str, Any]],
    *,
    start: float,
    guessing: float,
    title: str = "Ten runs with a warm-up and ten without, at the rate you choose",
) -> alt.LayerChart:
    """Return the losses of runs with and without a warm-up; a list chooses their highest rate.

    Each run has a `kind` (`WITH` or `WITHOUT`), a `peak`, its `losses` by update, and whether it
    `learned`. The thick lines are means.

    Raises:
        ValueError: no run has the rate at the start.
    """
    rows: list[dict[str, Any]] = [
        {
            "run": number,
            "kind": run["kind"],
            "peak": run["peak"],
            "update": [update for update, _ in run["losses"]],
            "loss": [round(loss, 2) for _, loss in run["losses"]],
        }
        for number, run in enumerate(runs)
    ]
    peaks = sorted({row["peak"] for row in rows})
    chosen = menu("highest_rate", peaks, "highest learning rate ", start=start)
    at = "datum.peak == highest_rate"
    lines = alt.Chart(alt.Data(values=rows)).transform_filter(at)
    lines = lines.transform_flatten(["update", "loss"])
    colour, dash = line_channels("kind:N", [WITH, WITHOUT], None)
    x = alt.X("update:Q", title="update", axis=alt.Axis(tickCount=6))
    y = alt.Y("loss:Q", title="loss a word (nats)", scale=alt.Scale(domain=[0, 3.6], clamp=True))
    words: list[dict[str, Any]] = []
    for peak in peaks:
        for kind in (WITH, WITHOUT):
            those = [r["learned"] for r in runs if (r["peak"], r["kind"]) == (peak, kind)]
            said = f"{kind}: {sum(those)} of {len(those)} learn"
            words.append({"kind": kind, "peak": peak, "said": said})
    told = alt.Chart(alt.Data(values=words)).transform_filter(at)
    told = told.mark_text(align="right", fontSize=13, fontWeight=600)
    guess = alt.Chart(alt.Data(values=[{"loss": guessing}]))
    layers = [
        guess.mark_rule(color=PALETTE["grey"], strokeDash=[4, 4]).encode(y=y),
        lines.mark_line(opacity=0.3, strokeWidth=1).encode(x, y, colour, detail="run:N"),
        lines.mark_line(strokeWidth=3).encode(
            x, alt.Y("mean(loss):Q", title="loss a word (nats)"), colour, strokeDash=dash
        ),
        *(
            told.transform_filter(f"datum.kind == '{kind}'").encode(
                colour, x=alt.value("width"), y=alt.value(place), text="said:N"
            )
            for kind, place in ((WITH, 6), (WITHOUT, 24))
        ),
    ]
    chart = alt.LayerChart(layer=layers).add_params(chosen)
    chart = chart.properties(width="container", height=260, title=wrapped(title))
    by_peak = (f"{row['peak']:g}: {row['said']}" for row in words)
    return described(
        chart,
        f"{title}. Thin lines are runs, thick ones their means: the loss over the updates; dashed, "
        f"that of guessing. A list sets the highest rate. {'; '.join(by_peak)}.",
    )


def first_steps(
    gradients: Float[Tensor, " weights"], steps: Float[Tensor, " weights"], *, alt_text: str
) -> Still:
    """Return two histograms on logarithmic axes of one length: gradients, and steps in rates."""
    shown = (("size of the gradient", gradients), ("length of the step, in rates", steps))

    def histograms(width: int, height: int, **grid: int) -> Figure:
        with canvas(width, height, sharey=True, **grid) as (figure, axes):
            for axis, (name, values), colour in zip(
                axes, shown, (PALETTE["vermilion"], PALETTE["blue"]), strict=True
            ):
                seen = values[values > 0].double().log10().clamp(-9, 1)
                axis.hist(seen.numpy(), bins=50, range=(-9, 1), color=colour)
                axis.set_xlabel(name)
                axis.set_xticks([-8, -6, -4, -2, 0], ["1e-8", "1e-6", "1e-4", "0.01", "1"])
            figure.supylabel("weights", fontsize=FONT_SIZE)
        return figure

    narrow = histograms(PHONE, 360, nrows=2)
    return still(histograms(600, 220, ncols=2), alt=alt_text, narrow=narrow)


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
