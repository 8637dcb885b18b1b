"""All encoder heads and all relations in one map; a click shows where a head looks (Figs. 3–4)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import torch
from jaxtyping import Float
from torch import Tensor

from transformer.data.phrasebook.questions import Question
from walkthrough.ch19_what_the_heads_attend_to.experiments import asking
from walkthrough.drawing.channels import cell_choice
from walkthrough.drawing.maps import outline
from walkthrough.drawing.style import (
    PALETTE,
    WEIGHT_SCHEME,
    described,
    rounded,
    step,
    token_labels,
    wrapped,
)

BARS = 180  # px: beside the names of the relations it fits a phone
SHORT = range(7, 12)
"""Words of an example."""
ANSWER, OTHER, ASKED = "the answer", "another word", "the word that is asked about"


@dataclass(frozen=True)
class Row:
    """One relation: what each head does in many sentences, and where it looks in one of them.

    `looks`: how often the largest weight is on the answer; `without`: how often the right word is
    ahead when the head is silent; `weights`: the row of the word that is asked about in `example`.
    """

    looks: Float[Tensor, "layers heads"]
    offset_share: float
    whole: float
    without: Float[Tensor, "layers heads"]
    example: Question
    weights: Float[Tensor, "layers heads length"]


def recorded_row(translator: asking.Translator, name: str, run: Mapping[str, Any]) -> Row:
    """Return a relation's row from a recorded run, with an example read by its translator.

    The example is a short sentence in which the best distance misses the answer.
    """
    found = run["relations"][name]
    questions = asking.asked(name, translator.words, n=60)
    example = next(
        question
        for question in questions
        if len(question.source) in SHORT
        and question.query + found["offset"] not in question.answers
    )
    maps = translator.maps(example.source, example.target)
    return Row(
        looks=torch.tensor(found["encoder"]["shares"]),
        offset_share=found["offset_share"],
        whole=found["right"],
        without=torch.tensor(found["without"]["one"]["encoder"]),
        example=example,
        weights=maps.encoder[:, 0, :, example.query],
    )


def head_map(
    rows: Mapping[str, Row],
    *,
    title: str = "How often is a head's largest weight on the answer? Click one",
    description: str | None = None,
) -> alt.VConcatChart:
    """Return the map of all heads, and for the chosen one its weights and two sentences.

    Raises:
        ValueError: there are no rows.
    """
    if not rows:
        raise ValueError("a map of heads needs at least one relation, got none")
    cells = [cell for name, row in rows.items() for cell in _cells(name, row)]
    first = max(cells, key=lambda cell: cell["looks"])
    heads = list(dict.fromkeys(cell["head"] for cell in cells))
    menus = {"relation": ("word ", list(rows)), "head": ("head ", heads)}
    chosen = cell_choice("cell", menus, first)
    data = alt.Data(values=cells)
    grid = _grid(data, chosen, list(rows), heads, title)
    longest = max(len(cell["word"]) for cell in cells)
    chart = alt.vconcat(grid, _words(data, chosen, longest), spacing=24)
    chart = chart.resolve_scale(color="independent")
    return described(chart, description or _in_words(title, rows, first))


def _cells(name: str, row: Row) -> list[dict[str, Any]]:
    looks, without, weights = map(rounded, (row.looks, row.without, row.weights))
    words = token_labels([*row.example.source, "<eos>"])
    roles = [_role(row.example, place) for place in range(len(words))]
    return [
        {
            "relation": name,
            "head": f"{layer + 1}.{head + 1}",
            "looks": looks[layer][head],
            "offset": round(row.offset_share, 3),
            "whole": round(row.whole, 3),
            "without": without[layer][head],
            "weight": weights[layer][head],
            "word": words,
            "role": roles,
            "place": list(range(len(words))),
        }
        for layer in range(row.looks.shape[0])
        for head in range(row.looks.shape[1])
    ]


def _role(question: Question, place: int) -> str:
    if place == question.query:
        return ASKED
    return ANSWER if place in question.answers else OTHER


def _grid(
    data: alt.Data, chosen: alt.Parameter, names: Sequence[str], heads: Sequence[str], title: str
) -> alt.LayerChart:
    size = step(len(heads), names)
    base = alt.Chart(data).encode(
        alt.X(
            "head:N", sort=None, title="layer.head", axis=alt.Axis(orient="top", labelFontSize=10)
        ),
        alt.Y("relation:N", sort=None, title=None, axis=alt.Axis(labelLimit=220)),
    )
    colour = alt.Color(
        "looks:Q",
        scale=alt.Scale(scheme=WEIGHT_SCHEME, domain=[0, 1]),
        legend=alt.Legend(title="share on the answer", orient="bottom", gradientLength=160),
    )
    cells = base.mark_rect(cursor="pointer").encode(
        color=colour,
        tooltip=[
            alt.Tooltip("relation:N", title="word"),
            alt.Tooltip("head:N", title="layer.head"),
            alt.Tooltip("looks:Q", title="largest weight on the answer", format=".0%"),
            alt.Tooltip("offset:Q", title="best fixed distance", format=".0%"),
            alt.Tooltip("whole:Q", title="right word ahead", format=".1%"),
            alt.Tooltip("without:Q", title="without this head", format=".1%"),
        ],
    )
    frames = outline(base.transform_filter(chosen))
    return alt.LayerChart(layer=[cells.add_params(chosen), *frames]).properties(
        width=alt.Step(size), height=alt.Step(26), title=wrapped(title)
    )


def _words(data: alt.Data, chosen: alt.Parameter, longest: int) -> alt.VConcatChart:
    picked = alt.Chart(data).transform_filter(chosen)
    roles = [ANSWER, OTHER, ASKED]
    colours = [PALETTE["vermilion"], PALETTE["sky"], PALETTE["grey"]]
    bars = (
        picked.transform_flatten(["weight", "word", "role", "place"])
        .mark_bar()
        .encode(
            alt.X(
                "weight:Q",
                title="its weight, in one sentence",
                scale=alt.Scale(domain=[0, 1]),
            ),
            alt.Y("word:N", sort=alt.EncodingSortField("place", op="min"), title=None),
            alt.Color(
                "role:N",
                scale=alt.Scale(domain=roles, range=colours),
                legend=alt.Legend(title=None, orient="bottom", columns=1),
            ),
            tooltip=["word:N", "role:N", alt.Tooltip("weight:Q", format=".3f")],
        )
        .properties(width=BARS, height=18 * longest)  # one height for all, which a page can reserve
    )
    said = (
        "['looks at the answer: ' + format(datum.looks, '.0%'),"
        " 'a fixed distance: ' + format(datum.offset, '.0%'),"
        " 'right word ahead: ' + format(datum.whole, '.1%'),"
        " 'without this head: ' + format(datum.without, '.1%')]"
    )
    words = (
        picked.transform_calculate(said=said)
        .mark_text(align="left", baseline="top", fontSize=12, lineHeight=17)
        .encode(text="said:N", x=alt.value(0), y=alt.value(0))
        .properties(width=BARS, height=72, view=alt.ViewConfig(stroke=None))
    )
    return alt.vconcat(words, bars, spacing=4)


def _in_words(title: str, rows: Mapping[str, Row], first: Mapping[str, Any]) -> str:
    best = "; ".join(f"{name}: {float(row.looks.max()):.0%}" for name, row in rows.items())
    return (
        f"{title}. Heat map with the kinds of words as rows and the encoder's heads as columns. "
        f"The best head of each row: {best}. Below it, for the chosen cell, the weights of that "
        f"head in one sentence as bars, at first head {first['head']} for {first['relation']}."
    )
