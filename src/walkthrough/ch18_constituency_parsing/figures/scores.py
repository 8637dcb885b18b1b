"""Scores as charts: Table 4, seeds, lengths, numbers of sentences (§6.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import altair as alt
import pandas as pd

from walkthrough.ch18_constituency_parsing.experiments.published import (
    GENERATIVE,
    MULTI,
    SEMI,
    WSJ,
    System,
)
from walkthrough.drawing.channels import menu
from walkthrough.drawing.still import Still, canvas, still
from walkthrough.drawing.style import PALETTE, described, wrapped

ALL = "all"
OURS, OTHERS = "the Transformer", "other systems"
SHORT = {WSJ: "WSJ", SEMI: "semi", MULTI: "multi", GENERATIVE: "gen"}
"""How the kinds of training stand behind a name, where there is little room."""


def table_4(
    systems: Sequence[System],
    *,
    title: str = "Table 4: near the best of its kind, above it with more data",
    label: str = "trained on ",
    x_title: str = "F1 as printed, section 23",
) -> alt.LayerChart:
    """Return the table as points; a menu chooses the kind of training.

    Raises:
        ValueError: there are no systems.
    """
    if not systems:
        raise ValueError("a chart of systems needs at least one, got none")
    kinds = list(dict.fromkeys(system.training for system in systems))
    rows = [
        {
            "system": f"{system.short}, {SHORT[system.training]}",
            "name": system.name,
            "training": system.training,
            "f1": system.f1,
            "kind": OURS if system.is_transformer else OTHERS,
        }
        for system in systems
    ]
    chosen = menu("training", [ALL, *kinds], label, start=ALL)
    base = (
        alt.Chart(alt.Data(values=rows))
        .transform_filter(f"training == '{ALL}' || datum.training == training")
        .encode(
            alt.X("f1:Q", title=x_title, scale=alt.Scale(domain=[88, 94])),
            alt.Y("system:N", title=None, sort="-x", axis=alt.Axis(labelLimit=170)),
            tooltip=[
                alt.Tooltip("name:N", title="system"),
                alt.Tooltip("training:N", title="trained on"),
                alt.Tooltip("f1:Q", title="F1", format=".1f"),
            ],
        )
    )
    scale = alt.Scale(domain=[OURS, OTHERS], range=[PALETTE["vermilion"], PALETTE["blue"]])
    shapes = alt.Scale(domain=[OURS, OTHERS], range=["diamond", "circle"])
    points = base.mark_point(filled=True, size=90, opacity=1).encode(
        alt.Color("kind:N", scale=scale, legend=alt.Legend(title=None, columns=1)),
        alt.Shape("kind:N", scale=shapes, legend=alt.Legend(title=None, columns=1)),
    )
    chart = alt.LayerChart(layer=[points]).add_params(chosen)
    told = "; ".join(f"{s.name} ({s.training}) {s.f1}" for s in systems)
    return described(
        chart.properties(width="container", height=alt.Step(20), title=wrapped(title)),
        f"{title}. {x_title}: {told}.",
    )


def ways_chart(
    rows: Mapping[str, Mapping[str, Sequence[float]]],
    lines: Mapping[str, float],
    *,
    title: str,
    x_title: str = "F1 in percent, a mark for each seed",
    x_from: int = 30,
) -> Still:
    """Return scores by way of reading the output, one mark a seed; upright lines are others' F1.

    `rows[way][series]` are the scores; a way may lack a series.

    Raises:
        ValueError: there are no runs.
    """
    if not rows:
        raise ValueError("a picture of seeds needs at least one recorded run, got none")
    series = dict.fromkeys(one for row in rows.values() for one in row)
    styles = zip("os", (PALETTE["vermilion"], PALETTE["blue"]), strict=True)
    with canvas(460, 130 + 28 * len(rows)) as (figure, axes):
        for (name, f1), dashes in zip(lines.items(), ("-", ":", "--"), strict=False):
            axes.axvline(f1, color="black", linestyle=dashes, linewidth=1.2, label=name)
        for one, (marker, colour) in zip(series, styles, strict=False):
            points = [
                (f1, place) for place, way in enumerate(rows) for f1 in rows[way].get(one, ())
            ]
            style = {"marker": marker, "color": colour, "alpha": 0.75, "label": one}
            axes.scatter(*zip(*points, strict=True), s=50, linewidths=0, **style)
        axes.set_yticks(range(len(rows)), list(rows))
        axes.set(xlim=(x_from, 101), ylim=(len(rows) - 0.5, -0.5), xlabel=x_title)
        axes.set_title(title)
        axes.grid(axis="x")
        figure.legend(loc="outside lower center", ncols=2, handletextpad=0.4)
    told = "; ".join(
        f"{way}, {one}: " + ", ".join(f"{value:.0f}" for value in f1)
        for way, by_series in rows.items()
        for one, f1 in by_series.items()
    )
    lines_told = "".join(f" {name}: {f1:.1f}." for name, f1 in lines.items())
    return still(figure, alt=f"{title}. {x_title}: {told}.{lines_told}")


def by_way(runs: pd.DataFrame, kind: str) -> dict[str, dict[str, list[float]]]:
    """Return F1 of recorded parsers by how they are read and searched, then by updates."""
    return {
        f"{arm}\n{said}": {
            f"{length} updates": list(some[f"{kind}/{search}/f1"])
            for length, some in of_arm.groupby("length")
        }
        for arm, of_arm in runs.groupby("arm", sort=False)
        for search, said in (("greedy", "greedy"), ("beam21", "beam of 21"))
    }
