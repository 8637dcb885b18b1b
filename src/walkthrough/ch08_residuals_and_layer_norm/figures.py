"""Post-norm and pre-norm side by side, for chapter 08: through depth and in training (§3.1)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any

import altair as alt

from walkthrough.ch08_residuals_and_layer_norm.experiments import captions
from walkthrough.ch08_residuals_and_layer_norm.experiments.norms import KINDS, ONE_STACK
from walkthrough.drawing.channels import line_channels, menu
from walkthrough.drawing.lines import Number, Points, check_series
from walkthrough.drawing.style import described, wrapped
from walkthrough.lab.copying import PEAK

FLOOR = 1e-9
"""What a logarithmic axis shows in place of anything smaller."""


@dataclass(frozen=True)
class Run:
    """One training run: its kind, the entry of the selector that shows it, its curve."""

    kind: str
    group: str
    points: Points


def copying_runs(frame: Any) -> list[Run]:
    """Return the runs of a frame of 08-norms; a schedule is an entry of the selector."""
    return [
        Run(
            run.kind,
            f"peak {PEAK * run.rate:g}, {run.warmup}",
            [(update, loss) for update, _, loss in run.curve],
        )
        for run in frame.itertuples()
    ]


def caption_runs(frame: Any) -> list[Run]:
    """Return runs on captions (a frame of `experiments.captions`); the selector is their length."""
    return [
        Run(
            run.arm,
            f"{run.length} updates",
            [(update, y) for update, figure, y in run.curve if figure == captions.PERPLEXITY],
        )
        for run in frame.itertuples()
    ]


def middle(runs: Sequence[Run]) -> list[Run]:
    """Return one run for each kind and group: at each point the median of the runs there are."""
    together: dict[tuple[str, str], list[Points]] = {}
    for run in runs:
        together.setdefault((run.kind, run.group), []).append(run.points)
    return [
        Run(
            kind, group, [(at[0][0], median(y for _, y in at)) for at in zip(*curves, strict=False)]
        )
        for (kind, group), curves in together.items()
    ]


def training_chart(
    runs: Sequence[Run],
    *,
    title: str,
    x_title: str,
    y_title: str,
    log_y: bool = False,
    y_domain: tuple[float, float] | None = None,
    label: str = "runs ",
    description: str | None = None,
) -> alt.LayerChart:
    """Return the median of each kind as a line, and its seeds as thin ones; a selector of groups.

    The axes stay when the selector changes, so that groups can be compared. Values past `y_domain`
    lie on its edge.

    Raises:
        ValueError: no runs, an unknown kind, a value that is not finite, or not positive on a
            logarithmic axis.
    """
    known = [*KINDS.values(), *ONE_STACK.values()]
    unknown = {run.kind for run in runs} - set(known)
    if unknown:
        raise ValueError(f"a run's kind must be one of {known}, got {unknown}")
    check_series(
        {f"{run.kind}, {n}": run.points for n, run in enumerate(runs)}, log_x=False, log_y=log_y
    )
    lines = [row for run in middle(runs) for row in _run_rows(run)]
    seeds = [{**row, "seed": n} for n, run in enumerate(runs) for row in _run_rows(run)]
    values, places = [row["y"] for row in seeds], [row["x"] for row in seeds]
    y_domain = y_domain or (min(values) if log_y else min(0.0, *values), max(values))
    x = alt.X(
        "x:Q",
        title=x_title,
        scale=alt.Scale(nice=False, domain=[min(places), max(places)]),
        axis=alt.Axis(tickCount=5, format="~s"),
    )
    y = alt.Y(
        "y:Q",
        title=y_title,
        scale=alt.Scale(type="log" if log_y else "linear", domain=list(y_domain), clamp=True),
    )
    offered = list(dict.fromkeys(run.group for run in runs))
    chosen = alt.param("group", value=offered[0])
    if len(offered) > 1:  # a menu of one would choose nothing
        chosen = menu("group", offered, label)
    kinds = [kind for kind in known if any(row["kind"] == kind for row in lines)]
    layers = _layers(lines, kinds, x, y, "datum.group == group", points=len(lines) <= 120)
    if len(seeds) > len(lines):
        thin = alt.Chart(alt.Data(values=seeds)).transform_filter("datum.group == group")
        colour, _ = line_channels("kind:N", kinds, _legend())
        marks = thin.mark_line(strokeWidth=0.8, opacity=0.55)
        layers.insert(0, marks.encode(x, y, colour, detail="seed:N"))
    chart = alt.LayerChart(layer=layers).add_params(chosen)
    chart = chart.properties(width="container", height=260, title=wrapped(title))
    return described(chart, description or _ends_in_words(title, middle(runs)))


def depth_explorer(
    measured: Mapping[int, Mapping[str, Mapping[str, Sequence[float]]]],
    *,
    start: int,
    title: str = "Without the residual, nothing arrives at the lower decoder layers",
    y_title: str = "norm of the gradient at the layer's output",
    description: str | None = None,
) -> alt.LayerChart:
    """Return gradient norms by layer; selectors choose the number of layers and the side.

    `measured[n_layers][kind][side]` holds one norm a layer, the lowest first. What is smaller than
    1e-9 is drawn there, zero included.

    Raises:
        ValueError: nothing measured, `start` not among the numbers of layers, or a list that does
            not have a norm for each layer.
    """
    if start not in measured:
        raise ValueError(f"start must be one of {sorted(measured)}, got {start}")
    rows = list(_depth_rows(measured))
    depths, sides = sorted(measured), list(dict.fromkeys(row["side"] for row in rows))
    kinds = list(dict.fromkeys(row["kind"] for row in rows))
    depth = menu("n_layers", depths, "layers ", start=start)
    side = menu("side", sides, "stack ", start=sides[-1])
    values = [row["y"] for row in rows]
    x = alt.X(
        "x:Q",
        title="layer (1 = the lowest) →",
        axis=alt.Axis(tickMinStep=1, format="d"),
        scale=alt.Scale(nice=False),
    )
    y = alt.Y(
        "y:Q",
        title=y_title,
        scale=alt.Scale(type="log", domain=[min(values), max(values)], nice=False),
        axis=alt.Axis(format="~e", tickCount=6),
    )
    rule = "datum.n_layers == n_layers && datum.side == side"
    chart = alt.LayerChart(layer=_layers(rows, kinds, x, y, rule, points=True))
    chart = chart.add_params(depth, side).properties(
        width="container", height=240, title=wrapped(title)
    )
    return described(chart, description or _depth_in_words(title, rows, start, sides[-1]))


def _median(points: Points) -> tuple[Number, Number]:
    return points[0][0], median(y for _, y in points)


def _run_rows(run: Run) -> Iterable[dict[str, Any]]:
    for x, y in run.points:
        yield {"kind": run.kind, "group": run.group, "x": x, "y": float(f"{y:.4g}")}


def _depth_rows(
    measured: Mapping[int, Mapping[str, Mapping[str, Sequence[float]]]],
) -> Iterable[dict[str, Any]]:
    for n_layers, by_kind in measured.items():
        for kind, by_side in by_kind.items():
            for side, norms in by_side.items():
                if len(norms) != n_layers:
                    raise ValueError(
                        f"one norm a layer is needed: got {len(norms)} for {n_layers} layers "
                        f"({kind}, {side})"
                    )
                for layer, norm in enumerate(norms, start=1):
                    row = {"n_layers": n_layers, "kind": kind, "side": side, "x": layer}
                    yield {**row, "y": float(f"{max(norm, FLOOR):.3g}")}


def _layers(
    rows: list[dict[str, Any]], kinds: list[str], x: alt.X, y: alt.Y, rule: str, *, points: bool
) -> list[alt.Chart]:
    shown = alt.Chart(alt.Data(values=rows)).transform_filter(rule)
    colour, dash = line_channels("kind:N", kinds, _legend())
    tooltip = [
        alt.Tooltip("kind:N", title="model"),
        alt.Tooltip("x:Q", title=x["title"]),
        alt.Tooltip("y:Q", title=y["title"], format=".3~g"),
    ]
    marks = shown.mark_point(filled=True, size=34 if points else 16, opacity=1 if points else 0)
    return [
        shown.mark_line().encode(x, y, colour, strokeDash=dash),
        marks.encode(x, y, colour, tooltip=tooltip),
    ]


def _legend() -> alt.Legend:
    return alt.Legend(title=None, columns=1, symbolType="stroke")


def _ends_in_words(title: str, runs: Sequence[Run]) -> str:
    ends = "; ".join(f"{run.kind}, {run.group}: {run.points[-1][1]:.3g}" for run in runs)
    return f"{title}. A line a kind, the median of its seeds, ends at: {ends}."


def _depth_in_words(title: str, rows: list[dict[str, Any]], n_layers: int, side: str) -> str:
    shown = [row for row in rows if row["n_layers"] == n_layers and row["side"] == side]
    ends = "; ".join(
        f"{low['kind']}: {low['y']:.2g} at the lowest, {high['y']:.2g} at the highest"
        for low, high in pairwise(row for row in shown if row["x"] in (1, n_layers))
        if low["x"] < high["x"]
    )
    return (
        f"{title}. Gradient norms of the {side}'s {n_layers} layers: {ends}. "
        f"What is smaller than {FLOOR:g} is drawn there. "
        "Selectors choose the number of layers and the stack."
    )
