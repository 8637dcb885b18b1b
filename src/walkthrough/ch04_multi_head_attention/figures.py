"""Heads merged, and whose numbers stand where (§3.2.2)."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import torch
from torch import Tensor

from walkthrough.drawing.channels import cycled, menu
from walkthrough.drawing.style import CATEGORIES, NARROW, described, token_labels, wrapped

EXCHANGED, AT_ONCE = "exchange, then flatten", "flatten at once"
WAYS = (EXCHANGED, AT_ONCE)


def merge_explorer(
    words: Sequence[str],
    d_model: int,
    *,
    start: int = 3,
    title: str = "Whose numbers, after the merge",
    n_heads_label: str = "heads ",
    way_label: str = "merge ",
    row_title: str = "row: this word's",
    column_title: str = "column of the merged matrix",
    description: str | None = None,
) -> alt.LayerChart:
    """Return the merged matrix with the origin of each number; selectors for heads and the way.

    Every number of heads that divides `d_model` can be chosen; `start` is chosen first.

    Raises:
        ValueError: there are no words, or `start` does not divide `d_model`.
    """
    divisors = [n for n in range(d_model, 0, -1) if d_model % n == 0]
    if not words or start not in divisors:
        raise ValueError(
            f"a merge needs words and a number of heads that divides d_model = {d_model}: "
            f"got {len(words)} words and {start} heads"
        )
    rows = [
        {"n_heads": n, "way": way, **_origins(words, n, d_model // n, way)}
        for n in divisors
        for way in WAYS
    ]
    chosen = [
        menu("n_heads", divisors, n_heads_label, start=start),
        menu("way", WAYS, way_label),
    ]
    fields: list[Any] = ["row", "column", "word", "head", "place"]
    shown = (
        alt.Chart(alt.Data(values=rows))
        .transform_filter("datum.n_heads == n_heads && datum.way == way")
        .transform_flatten(fields)
        .transform_calculate(
            label="slice(datum.word, 0, 3) + ' ' + datum.head",
            strange="datum.word == datum.row ? 0 : 1",
        )
        .transform_joinaggregate(strangers="sum(strange)", cells="count()")
    )
    layers = _merged(shown, words, d_model, row_title, column_title)
    chart = alt.LayerChart(layer=layers).add_params(*chosen)
    chart = chart.properties(
        width=alt.Step(NARROW // d_model), height=alt.Step(30), title=wrapped(title)
    )
    return described(chart, description or _merge_in_words(title, rows, words, d_model))


def _origins(words: Sequence[str], n_heads: int, d: int, way: str) -> dict[str, list[Any]]:
    length = len(words)
    labels = token_labels(words)

    def merged(heads: Tensor) -> list[int]:
        if way == EXCHANGED:
            heads = heads.transpose(0, 1)
        return list(heads.reshape(length, n_heads * d).flatten().tolist())

    shape = (n_heads, length, d)
    head = torch.arange(n_heads)[:, None, None].expand(shape)
    word = torch.arange(length)[None, :, None].expand(shape)
    place = torch.arange(d)[None, None, :].expand(shape)
    return {
        "row": [label for label in labels for _ in range(n_heads * d)],
        "column": [column + 1 for _ in labels for column in range(n_heads * d)],
        "word": [labels[i] for i in merged(word)],
        "head": [i + 1 for i in merged(head)],
        "place": [i + 1 for i in merged(place)],
    }


def _merged(
    shown: alt.Chart, words: Sequence[str], d_model: int, row_title: str, column_title: str
) -> list[alt.Chart]:
    base = shown.encode(
        alt.X("column:O", axis=alt.Axis(orient="top", title=column_title, labelAngle=0)),
        alt.Y("row:N", sort=token_labels(words), axis=alt.Axis(title=row_title, minExtent=72)),
    )
    cells = base.mark_rect(stroke="white", strokeWidth=1).encode(
        color=alt.Color(
            "head:O",
            scale=alt.Scale(domain=list(range(1, d_model + 1)), range=cycled(CATEGORIES, d_model)),
            legend=None,
        ),
        tooltip=[
            alt.Tooltip("row:N", title="row of"),
            alt.Tooltip("column:O", title="column"),
            alt.Tooltip("word:N", title="number of word"),
            alt.Tooltip("head:O", title="found by head"),
            alt.Tooltip("place:O", title="component in the head"),
        ],
    )
    names = base.mark_text(fontSize=12, color="white").encode(text="label:N")
    count = "datum.strangers + ' of ' + datum.cells"
    words_below = (
        shown.transform_calculate(words=f"{count} + ' numbers are in a wrong row'")
        .transform_filter(f"datum.column == 1 && datum.row == {words[0]!r}")
        .mark_text(align="left", fontSize=12, fontWeight=600)
        .encode(x=alt.value(0), y=alt.value(30 * len(words) + 14), text="words:N")
    )
    return [cells, names, words_below]


def _merge_in_words(
    title: str, rows: list[dict[str, Any]], words: Sequence[str], d_model: int
) -> str:
    strangers = {
        row["n_heads"]: sum(w != r for w, r in zip(row["word"], row["row"], strict=True))
        for row in rows
        if row["way"] == AT_ONCE
    }
    counted = ", ".join(f"{n} with {heads} heads" for heads, n in strangers.items())
    return (
        f"{title}. A grid of {len(words)} rows, one a word, and {d_model} columns; each cell names "
        "the word and the head its number comes from. Two selectors choose the number of heads "
        "and the way to merge. When heads and words are exchanged first, every number stands in "
        f"its own word's row. When they are flattened at once, numbers in a wrong row: {counted}."
    )
