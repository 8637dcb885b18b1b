"""Layers as graphs: what waits for what, and how far it is from one word to another (§4)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import altair as alt

from walkthrough.ch10_why_self_attention.experiments.wiring import Wiring, shortest_way, steps
from walkthrough.drawing.channels import menu, number_slider
from walkthrough.drawing.style import PALETTE, described, wrapped

HEIGHT_OF_LAYER = 52


@dataclass(frozen=True, kw_only=True)
class Words:
    """The words of the figure."""

    title: str = "The number in a place: the step in which it can be computed"
    kind_label: str = "layer type "
    start_label: str = "from word "
    x_title: str = "word"
    input_name: str = "input"
    layer_name: str = "layer"
    in_one_layer: str = "steps one after the other, in one layer: "
    on_the_way: str = "edges on the way to the last word: "
    layers_drawn: str = "layers it takes to connect all words: "


def wiring_explorer(
    wirings: Mapping[str, Wiring], *, words: Words | None = None, description: str | None = None
) -> alt.LayerChart:
    """Return one graph at a time, chosen by name, with the shortest way to the last output drawn.

    A slider chooses the word at which the way begins. All graphs have the same number of words.

    Raises:
        ValueError: there is no graph, or graphs differ in their number of words.
    """
    words = words or Words()
    lengths = {1 + max(position for _, position in reads) for reads in wirings.values()}
    if len(lengths) != 1:
        raise ValueError(
            f"graphs of one length are needed, got lengths {sorted(lengths) or 'of nothing'}"
        )
    n = lengths.pop()
    kind = menu("kind", list(wirings), words.kind_label)
    start = number_slider("start", words.start_label, n, start=1, smallest=1)
    layers = max(layer for reads in wirings.values() for layer, _ in reads)
    charts = [
        *_edges(wirings, n),
        *_places(wirings, n, layers, words),
        _sentences(wirings, n, layers, words),
    ]
    chart = (
        alt.LayerChart(layer=charts)
        .add_params(kind, start)
        .properties(
            width="container", height=HEIGHT_OF_LAYER * (layers + 1), title=wrapped(words.title)
        )
    )
    return described(chart, description or _in_words(words.title, wirings, n))


def _way(reads: Wiring, start: int, n: int) -> list[tuple[int, int]]:
    top = max(layer for layer, _ in reads)
    return shortest_way(reads, (0, start), (top, n - 1))


def _edges(wirings: Mapping[str, Wiring], n: int) -> list[alt.Chart]:
    rows = []
    for name, reads in wirings.items():
        used: dict[Any, list[int]] = {}
        for start in range(n):
            way = _way(reads, start, n)
            for edge in pairwise(way):
                used.setdefault(edge, []).append(start + 1)
        for after, before_all in reads.items():
            for before in before_all:
                ends = {"x": before[1] + 1, "y": before[0], "x2": after[1] + 1, "y2": after[0]}
                rows.append({"kind": name, **ends, "starts": used.get((before, after), [])})
    base = (
        alt.Chart(alt.Data(values=rows))
        .transform_filter("datum.kind == kind")
        .encode(alt.X("x:Q"), alt.Y("y:Q"), x2="x2:Q", y2="y2:Q")
    )
    on_way = base.transform_filter("indexof(datum.starts, start) >= 0")
    return [
        base.mark_rule(color=PALETTE["grey"], strokeWidth=1, opacity=0.55),
        on_way.mark_rule(color=PALETTE["vermilion"], strokeWidth=4, opacity=1),
    ]


def _places(wirings: Mapping[str, Wiring], n: int, layers: int, words: Words) -> list[alt.Chart]:
    rows = [
        {
            "kind": name,
            "position": position + 1,
            "layer": layer,
            "step": step,
            "n_read": len(reads[layer, position]),
        }
        for name, reads in wirings.items()
        for (layer, position), step in steps(reads).items()
    ]
    names = " : ".join(
        f"datum.value == {layer} ? '{words.layer_name} {layer}'" for layer in range(1, layers + 1)
    )
    x = alt.X(
        "position:Q",
        scale=alt.Scale(domain=[0.5, n + 0.5], nice=False),
        axis=alt.Axis(title=words.x_title, values=list(range(1, n + 1)), format="d", grid=False),
    )
    y = alt.Y(
        "layer:Q",
        scale=alt.Scale(domain=[-0.4, layers + 0.9], nice=False),
        axis=alt.Axis(
            title=None,
            values=list(range(layers + 1)),
            labelExpr=f"datum.value == 0 ? '{words.input_name}' : {names} : ''",
            grid=False,
        ),
    )
    base = alt.Chart(alt.Data(values=rows)).transform_filter("datum.kind == kind").encode(x=x, y=y)
    tooltip = [
        alt.Tooltip("position:Q", title=words.x_title),
        alt.Tooltip("layer:Q", title="layer (0: input)"),
        alt.Tooltip("step:Q", title="can be computed in step"),
        alt.Tooltip("n_read:Q", title="reads, number of places"),
    ]
    colour = alt.condition(
        "datum.layer == 0", alt.value(PALETTE["grey"]), alt.value(PALETTE["blue"])
    )
    circles = base.mark_circle(size=330, opacity=1).encode(color=colour, tooltip=tooltip)
    numbers = base.mark_text(fontSize=12, color="white").encode(text="step:Q", tooltip=tooltip)
    return [circles, numbers]


def _sentences(wirings: Mapping[str, Wiring], n: int, layers: int, words: Words) -> alt.Chart:
    rows = []
    for name, reads in wirings.items():
        found = steps(reads)
        first = max(step for (layer, _), step in found.items() if layer == 1)
        top = max(layer for layer, _ in reads)
        for start in range(n):
            lines = [
                f"{words.in_one_layer}{first}",
                f"{words.layers_drawn}{top}",
                f"{words.on_the_way}{len(_way(reads, start, n)) - 1}",
            ]
            rows.append({"kind": name, "start": start + 1, "text": lines})
    return (
        alt.Chart(alt.Data(values=rows))
        .transform_filter("datum.kind == kind && datum.start == start")
        .mark_text(align="left", baseline="top", fontSize=12, lineHeight=16)
        .encode(x=alt.value(0), y=alt.value(HEIGHT_OF_LAYER * (layers + 1) + 48), text="text:N")
    )


def _in_words(title: str, wirings: Mapping[str, Wiring], n: int) -> str:
    parts: Sequence[str] = [
        f"{name}: layers {max(layer for layer, _ in reads)}, steps in one layer "
        f"{max(s for (layer, _), s in steps(reads).items() if layer == 1)}, edges from the first "
        f"word to the last {len(_way(reads, 0, n)) - 1}"
        for name, reads in wirings.items()
    ]
    return (
        f"{title}. A graph with {n} words from left to right and layers from the input upwards; "
        "a selector chooses the layer type, a slider the word at which the marked way to the last "
        f"output begins. {'; '.join(parts)}."
    )
