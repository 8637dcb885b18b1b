"""Scores as charts: Table 4, seeds, lengths, numbers of sentences (§6.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd
import seaborn

from walkthrough.ch18_constituency_parsing.experiments.published import (
    GENERATIVE,
    MULTI,
    SEMI,
    WSJ,
    System,
)
from walkthrough.drawing.channels import menu
from walkthrough.drawing.lines import line_chart
from walkthrough.drawing.still import Still, canvas, still
from walkthrough.drawing.style import PALETTE, described, wrapped

ALL = "all"
OURS, OTHERS = "the Transformer", "other systems"
SEARCHES = {"greedy": "greedy", "beam21": "beam of 21"}
KINDS = {"seen": "shapes seen", "held_out": "shapes held out"}
"""As the picture calls them, by their names in the figures of the record."""
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


def seeds_chart(
    runs: pd.DataFrame,
    *,
    title: str = "Words as leaves, rules, then a beam",
    x_title: str = "F1 in percent, a mark for each seed",
) -> Still:
    """Return the scores of recorded parsers of the phrasebook, by leaf and way of decoding.

    Raises:
        ValueError: there are no runs.
    """
    if not len(runs):
        raise ValueError("a picture of seeds needs at least one recorded run, got none")
    rows = {
        (f"{arm}\n{how}", kind): list(of_arm[f"{split}/{decode}/f1"])
        for arm, of_arm in runs.groupby("arm", sort=False)
        for decode, how in SEARCHES.items()
        for split, kind in KINDS.items()
    }
    names = list(dict.fromkeys(name for name, _ in rows))
    with canvas(400, 60 + 44 * len(names)) as (figure, axes):
        for kind, marker, colour in zip(KINDS.values(), "os", ("blue", "vermilion"), strict=True):
            f1 = [(name, value) for name in names for value in rows[name, kind]]
            seaborn.stripplot(
                x=[value for _, value in f1],
                y=[name for name, _ in f1],
                order=names,
                marker=marker,
                color=PALETTE[colour],
                label=kind,
                jitter=0.12,
                size=8,
                alpha=0.85,
                legend=False,
                ax=axes,
            )
            axes.plot([], [], marker=marker, color=PALETTE[colour], linestyle="", label=kind)
        handles, labels = axes.get_legend_handles_labels()
        firsts = {label: handle for handle, label in zip(handles, labels, strict=True)}
        axes.legend(firsts.values(), firsts.keys(), loc="lower left", handletextpad=0.2)
        axes.set(xlim=(0, 100), xlabel=x_title, ylabel="")
        axes.set_title(title)
        axes.grid(axis="x")
    told = "; ".join(
        f"{name.replace(chr(10), ', ')}, {kind}: " + ", ".join(f"{value:.0f}" for value in f1)
        for (name, kind), f1 in rows.items()
    )
    return still(figure, alt=f"{title}. {x_title}: {told}.")


def by_length(
    rows: Mapping[str, Sequence[Mapping[str, Any]]],
    *,
    title: str = "Long sentences are harder for all",
    x_title: str = "words in the sentence (middle of each group)",
    y_title: str = "F1 in percent",
) -> alt.LayerChart:
    """Return F1 by the length of the sentence, one line a parser."""
    series = {
        name: [(_middle(group["words"]), round(group["f1"], 1)) for group in groups]
        for name, groups in rows.items()
    }
    return line_chart(series, title=title, x_title=x_title, y_title=y_title, y_domain=(0, 100))


def by_sentences(
    rows: Mapping[str, Mapping[int, float]],
    *,
    title: str = "More sentences help the Transformer more",
    x_title: str = "sentences to learn from",
    y_title: str = "F1 in percent",
) -> alt.LayerChart:
    """Return F1 by the number of training sentences, one line a parser."""
    series = {
        name: [(sentences, round(f1, 1)) for sentences, f1 in sorted(points.items())]
        for name, points in rows.items()
    }
    return line_chart(
        series, title=title, x_title=x_title, y_title=y_title, log_x=True, base=2, y_domain=(40, 90)
    )


def _middle(words: Sequence[int]) -> float:
    least, most = words
    return 50.0 if most >= 1000 else (least + most) / 2
