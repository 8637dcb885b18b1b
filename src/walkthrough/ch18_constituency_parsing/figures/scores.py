"""Scores as charts: Table 4, seeds, lengths, numbers of sentences (§6.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import seaborn

from transformer.data.tree_codec import Leaf
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
LEAVES: tuple[Leaf, ...] = ("XX", "number", "word")
"""In the order of the picture."""
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
    runs: Sequence[Mapping[str, Any]],
    *,
    title: str = "Words as leaves, rules, then a beam",
    x_title: str = "F1 in percent, a mark for each seed",
) -> Still:
    """Return the scores of recorded parsers of the phrasebook, by leaf and way of decoding.

    Raises:
        ValueError: there are no runs.
    """
    rows = [
        {
            "sentences": score["sentences"],
            "how": f"{run['leaf']}, {'with rules' if score['constrained'] else 'free'}\n"
            + ("greedy" if score["beam"] == 1 else f"beam of {score['beam']}"),
            "order": (LEAVES.index(run["leaf"]), score["constrained"], score["beam"]),
            "f1": score["f1"],
        }
        for run in runs
        for score in run["scores"]
    ]
    if not rows:
        raise ValueError("a picture of seeds needs at least one recorded run, got none")
    names = list(dict.fromkeys(row["how"] for row in sorted(rows, key=lambda row: row["order"])))
    kinds = list(dict.fromkeys(row["sentences"] for row in rows))
    with canvas(400, 60 + 44 * len(names)) as (figure, axes):
        for kind, marker, colour in zip(kinds, "os", ("blue", "vermilion"), strict=False):
            chosen = [row for row in rows if row["sentences"] == kind]
            seaborn.stripplot(
                x=[row["f1"] for row in chosen],
                y=[row["how"] for row in chosen],
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
        f"{name.replace(chr(10), ', ')}, {kind}: "
        + ", ".join(
            f"{row['f1']:.0f}" for row in rows if (row["how"], row["sentences"]) == (name, kind)
        )
        for name in names
        for kind in kinds
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
