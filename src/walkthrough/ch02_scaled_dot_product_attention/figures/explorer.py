"""Where a score comes from: one cell of QKᵀ, its query, its key, and their products."""

import json
from collections.abc import Sequence

import altair as alt
import torch
from jaxtyping import Float
from torch import Tensor

from walkthrough.drawing.channels import cell_choice
from walkthrough.drawing.maps import (
    PRINT_UP_TO,
    cell_rows,
    cell_tooltip,
    check_tokens,
    key_axis,
    outline,
    query_axis,
)
from walkthrough.drawing.style import SIGNED_SCHEME, described, rounded, step, token_labels, wrapped

SUM = "sum of the products:"
PARTS = {"q": "query", "k": "key", "product": "q × k"}


def qk_explorer(
    query: Float[Tensor, "query_len d_k"],
    key: Float[Tensor, "key_len d_k"],
    query_tokens: Sequence[str],
    key_tokens: Sequence[str],
    *,
    title: str = "Click a score to see the products that make it",
    description: str | None = None,
) -> alt.VConcatChart:
    """Return QKᵀ with a cell to choose, and below it the query, the key and their products.

    Raises:
        ValueError: the vectors and the tokens do not fit.
    """
    scores = query @ key.transpose(-2, -1)
    check_tokens(scores.shape, query_tokens, key_tokens)
    queries, keys = token_labels(query_tokens), token_labels(key_tokens)
    rows = cell_rows(query_tokens, key_tokens)
    values = rounded(scores)
    for cell in rows:
        i, j = cell["row"], cell["column"]
        cell |= {"score": values[i][j], "q": rounded(query[i]), "k": rounded(key[j])}
    first = max(rows, key=lambda cell: cell["score"])  # a score with something in it to see
    menus = {"query": ("query ", queries), "key": ("key ", keys)}
    chosen = cell_choice("score", menus, first)
    data = alt.Data(values=rows)
    largest = float(torch.cat([query.flatten().abs(), key.flatten().abs()]).max())
    below = _products(data, chosen, query.shape[-1], max(largest, largest**2, 1e-3))
    grid = _score_grid(data, chosen, scores, query_tokens, title)
    chart = alt.vconcat(grid, below, spacing=28).resolve_scale(color="independent")
    text = description or (
        f"{title}. Heat map of the {scores.shape[0]} by {scores.shape[1]} scores QKᵀ, queries as "
        "rows, keys as columns. For the chosen cell three rows of numbers show the query, the key "
        "and their products, and a line adds the products up to the score."
    )
    return described(chart, text)


def _signed_colour(field: str, largest: float) -> alt.Color:
    scale = alt.Scale(scheme=SIGNED_SCHEME, domain=[-largest, largest], domainMid=0)
    return alt.Color(f"{field}:Q", scale=scale, legend=None)


def _score_grid(
    data: alt.Data, chosen: alt.Parameter, scores: Tensor, query_tokens: Sequence[str], title: str
) -> alt.LayerChart:
    largest = max(float(scores.abs().max()), 1e-3)
    size = step(max(scores.shape), query_tokens)
    base = alt.Chart(data).encode(key_axis(), query_axis())
    cells = base.mark_rect(cursor="pointer").encode(
        color=_signed_colour("score", largest), tooltip=cell_tooltip("score:Q", "score q·k")
    )
    layers = [cells.add_params(chosen), *outline(base.transform_filter(chosen))]
    if max(scores.shape) <= PRINT_UP_TO:
        layers.append(_values_on_signed(base, "score", largest))
    return alt.LayerChart(layer=layers).properties(
        width=alt.Step(size), height=alt.Step(size), title=wrapped(title)
    )


def _values_on_signed(base: alt.Chart, field: str, largest: float) -> alt.Chart:
    dark = f"abs(datum.{field}) > {0.6 * largest:.4f}"
    ink = alt.when(dark).then(alt.value("white")).otherwise(alt.value("black"))
    text = alt.Text(f"{field}:Q", format=".1f")
    return base.mark_text(fontSize=12).encode(text=text, color=ink)


def _products(data: alt.Data, chosen: alt.Parameter, d_k: int, largest: float) -> alt.LayerChart:
    rows = (
        alt.Chart(data)
        .transform_filter(chosen)
        .transform_calculate(dimension=f"sequence(1, {d_k + 1})")
        .transform_flatten(["q", "k", "dimension"])
        .transform_calculate(product="datum.q * datum.k")
        .transform_joinaggregate(total="sum(product)")
        .transform_fold(list(PARTS), as_=["part", "value"])
        .transform_calculate(vector=f"{json.dumps(PARTS)}[datum.part]")
    )
    base = rows.encode(
        alt.X("dimension:O", axis=alt.Axis(title=f"dimension, 1 to d_k = {d_k}")),
        alt.Y("vector:N", sort=list(PARTS.values()), title=None),
    )
    tooltip = [
        alt.Tooltip("vector:N", title="row"),
        alt.Tooltip("dimension:O", title="dimension"),
        alt.Tooltip("value:Q", title="value", format=".3f"),
    ]
    cells = base.mark_rect().encode(color=_signed_colour("value", largest), tooltip=tooltip)
    total = "datum.query + ' · ' + datum.key + ' = ' + format(datum.total, '.2f')"
    words = (
        rows.transform_filter("datum.dimension == 1 && datum.part == 'q'")
        .transform_calculate(words=f"'{SUM} ' + {total}")
        .mark_text(align="left", fontSize=13, fontWeight=600)
        .encode(x=alt.value(0), y=alt.value(-12), text="words:N")
    )
    numbers = [_values_on_signed(base, "value", largest)] if d_k <= PRINT_UP_TO else []
    shown = alt.LayerChart(layer=[cells, *numbers, words])
    return shown.properties(width=alt.Step(step(d_k)), height=alt.Step(28))
