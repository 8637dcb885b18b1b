"""Post-norm and pre-norm side by side, for chapter 08: through depth and in training (§3.1)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import altair as alt

from walkthrough.drawing.channels import line_channels, menu
from walkthrough.drawing.lines import Points, check_series
from walkthrough.drawing.style import described, wrapped

KINDS = {
    ("post", "scaled"): "post-norm, small start",
    ("post", "xavier"): "post-norm, full-size start",
    ("pre", "scaled"): "pre-norm, small start",
    ("pre", "xavier"): "pre-norm, full-size start",
}
"""Names of the four kinds of model, by `norm` and `residual_init`, in the order of the legend."""
WARM, COLD = "with warm-up", "without warm-up"
FLOOR = 1e-9
"""What a logarithmic axis shows in place of anything smaller."""


@dataclass(frozen=True)
class Run:
    """One training run: its kind, whether the rate rose slowly, and a measure on the way."""

    kind: str
    warm: bool
    points: Points

    @property
    def warmth(self) -> str:
        """The run's entry in the selector."""
        return WARM if self.warm else COLD


def recorded_runs(
    record: Mapping[str, Any], *, x: str = "tokens", y: str = "valid_perplexity"
) -> list[Run]:
    """Return the runs of a record under results/, by two columns of their curves.

    Raises:
        ValueError: no runs, or two of one kind and warm-up, such as two seeds.
    """
    found: dict[tuple[str, bool], Run] = {}
    for run in record["runs"]:
        model, training = run["settings"]["model"], run["settings"]["training"]
        kind = KINDS[model["norm"], model["residual_init"]]
        points = [(row[x], row[y]) for row in run["curve"] if row[y] is not None]
        new = Run(kind, training["warmup"] > 1, points)
        if (kind, new.warm) in found:
            raise ValueError(f"one run of a kind is needed, got two of {kind}, {new.warmth}")
        found[kind, new.warm] = new
    if not found:
        raise ValueError("a record needs at least one run; got none")
    return list(found.values())


def training_chart(
    runs: Sequence[Run],
    *,
    title: str,
    x_title: str,
    y_title: str,
    log_x: bool = False,
    log_y: bool = False,
    y_domain: tuple[float, float] | None = None,
    seeds: Sequence[Run] = (),
    description: str | None = None,
) -> alt.LayerChart:
    """Return one line a run; a selector chooses the runs with or without warm-up.

    The axes stay when the selector changes, so that both can be compared. `seeds` adds a dot for
    each of its points, for lines that are means. Values past `y_domain` lie on its edge.

    Raises:
        ValueError: no runs, a kind that is not one of `KINDS`, a value that is not finite, or not
            positive on a logarithmic axis.
    """
    unknown = {run.kind for run in [*runs, *seeds]} - set(KINDS.values())
    if unknown:
        raise ValueError(f"a run's kind must be one of {list(KINDS.values())}, got {unknown}")
    named = {f"{run.kind}, {run.warmth}, {n}": run.points for n, run in enumerate([*runs, *seeds])}
    check_series(named, log_x=log_x, log_y=log_y)
    data = [row for run in runs for row in _run_rows(run)]
    dots = [row for run in seeds for row in _run_rows(run)]
    values = [row["y"] for row in data + dots]
    y_domain = y_domain or (min(0.0, *values) if not log_y else min(values), max(values))
    places = [row["x"] for row in data]
    x = alt.X(
        "x:Q",
        title=x_title,
        scale=alt.Scale(
            type="log" if log_x else "linear", nice=False, domain=[min(places), max(places)]
        ),
        axis=alt.Axis(tickCount=4, format="~s" if max(places) > 1 else "~g"),
    )
    y = alt.Y(
        "y:Q",
        title=y_title,
        scale=alt.Scale(type="log" if log_y else "linear", domain=list(y_domain), clamp=True),
    )
    offered = [warmth for warmth in (WARM, COLD) if any(row["warmth"] == warmth for row in data)]
    chosen = alt.param("warmth", value=offered[0])
    if len(offered) > 1:  # a menu of one would choose nothing
        chosen = menu("warmth", offered, "runs ")
    kinds = [kind for kind in KINDS.values() if any(row["kind"] == kind for row in data)]
    layers = _layers(data, kinds, x, y, "datum.warmth == warmth", points=len(data) <= 120)
    if dots:
        shown = alt.Chart(alt.Data(values=dots)).transform_filter("datum.warmth == warmth")
        colour, _ = line_channels("kind:N", kinds, _legend())
        layers.append(shown.mark_point(size=26, opacity=0.7).encode(x, y, colour))
    chart = alt.LayerChart(layer=layers).add_params(chosen)
    chart = chart.properties(width="container", height=240, title=wrapped(title))
    return described(chart, description or _ends_in_words(title, runs))


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


def _run_rows(run: Run) -> Iterable[dict[str, Any]]:
    for x, y in run.points:
        yield {"kind": run.kind, "warmth": run.warmth, "x": x, "y": float(f"{y:.4g}")}


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
    ends = "; ".join(f"{run.kind}, {run.warmth}: {run.points[-1][1]:.3g}" for run in runs)
    return f"{title}. One line a run, ending at: {ends}. A selector chooses the runs."


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
