"""Attention weights as maps: one map, all layers and heads, and where a score comes from."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import altair as alt
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from walkthrough.figures.style import (
    NOT_ALLOWED,
    ON_NOT_ALLOWED,
    SIGNED_SCHEME,
    WEIGHT_SCHEME,
    described,
    rounded,
    step,
    token_labels,
    wrapped,
)

QUERIES = "queries: who looks"
KEYS = "keys: who is looked at"
MEAN = "mean"
SUM = "sum of the products:"
PRINT_UP_TO = 9  # tokens a side: below this every cell has room for its value

ENCODER = "encoder self-attention"
DECODER = "decoder self-attention"
CROSS = "encoder–decoder attention"

Pairs = Iterable[tuple[int, int]]


def key_axis(title: str = KEYS) -> alt.X:
    """Return the horizontal axis of a map: keys, at the top, sorted by the field `column`."""
    axis = alt.Axis(orient="top", labelAngle=-45, title=title, labelLimit=110)
    return alt.X("key:N", sort=alt.EncodingSortField("column", op="min"), axis=axis)


def query_axis(title: str = QUERIES) -> alt.Y:
    """Return the vertical axis of a map: queries, first at the top, sorted by the field `row`."""
    axis = alt.Axis(title=title, labelLimit=130)
    return alt.Y("query:N", sort=alt.EncodingSortField("row", op="min"), axis=axis)


def cell_rows(query_tokens: Sequence[str], key_tokens: Sequence[str]) -> list[dict[str, Any]]:
    """Return one row a cell of a map: its query, its key, and their places."""
    keys = token_labels(key_tokens)
    return [
        {"query": query, "key": key, "row": row, "column": column}
        for row, query in enumerate(token_labels(query_tokens))
        for column, key in enumerate(keys)
    ]


def check_tokens(
    shape: Sequence[int], query_tokens: Sequence[str], key_tokens: Sequence[str]
) -> None:
    """Check that a map has one row a query token and one column a key token.

    Raises:
        ValueError: it has not.
    """
    expected = (len(query_tokens), len(key_tokens))
    if tuple(shape[-2:]) != expected:
        raise ValueError(
            "a map needs one row a query token and one column a key token: "
            f"expected {expected}, got {tuple(shape[-2:])}"
        )


def predicting(target_tokens: Sequence[str], *, start: str = "<bos>") -> list[str]:
    """Return the decoder's row labels, "input → word it predicts", from start to end.

    The row that predicts a word is the one whose weights say where that word comes from.
    """
    inputs = [start, *target_tokens]
    outputs = [*target_tokens, "<eos>"]
    return [f"{token} → {predicted}" for token, predicted in zip(inputs, outputs, strict=True)]


def weights_heatmap(
    weights: Float[Tensor, "query_len key_len"],
    query_tokens: Sequence[str],
    key_tokens: Sequence[str],
    *,
    attend_mask: Bool[Tensor, "query_len key_len"] | None = None,
    title: str = "Each row is one query: its weights over the keys sum to 1",
    description: str | None = None,
) -> alt.LayerChart:
    """Return one attention map; cells that the mask closes are grey and crossed out.

    Raises:
        ValueError: the map and the tokens do not fit.
    """
    check_tokens(weights.shape, query_tokens, key_tokens)
    rows = cell_rows(query_tokens, key_tokens)
    values = rounded(weights)
    for cell in rows:
        i, j = cell["row"], cell["column"]
        seen = attend_mask is None or bool(attend_mask[i, j])
        cell["weight"] = values[i][j] if seen else None
    size = step(max(len(key_tokens), len(query_tokens)), query_tokens)
    base = alt.Chart(alt.Data(values=rows)).encode(key_axis(), query_axis())
    tooltip = _tooltip("weight:Q", "weight")
    layers = [base.mark_rect(invalid=None).encode(color=_weight_colour(), tooltip=tooltip)]
    if max(weights.shape) <= PRINT_UP_TO:
        layers.append(_printed_values(base, "weight", "datum.weight > 0.6"))
    if attend_mask is not None:
        layers.append(_crosses(base.transform_filter("datum.weight === null"), tooltip))
    chart = alt.LayerChart(layer=layers).properties(
        width=alt.Step(size), height=alt.Step(size), title=wrapped(title)
    )
    return described(chart, description or _weights_in_words(title, weights, rows))


def _tooltip(field: str, title: str) -> list[alt.Tooltip]:
    return [
        alt.Tooltip("query:N", title="query"),
        alt.Tooltip("key:N", title="key"),
        alt.Tooltip(field, title=title, format=".3f"),
    ]


def _weight_colour(field: str = "weight") -> Any:
    scale = alt.Scale(scheme=WEIGHT_SCHEME, domain=[0, 1])
    legend = alt.Legend(title="weight", orient="bottom", gradientLength=160)
    return (
        alt.when(f"datum.{field} === null")
        .then(alt.value(NOT_ALLOWED))
        .otherwise(alt.Color(f"{field}:Q", scale=scale, legend=legend))
    )


def _printed_values(base: alt.Chart, field: str, on_light: str, style: str = ".2f") -> alt.Chart:
    ink = alt.when(on_light).then(alt.value("black")).otherwise(alt.value("white"))
    shown = base.transform_filter(f"datum.{field} !== null")
    return shown.mark_text(fontSize=11).encode(text=alt.Text(f"{field}:Q", format=style), color=ink)


def _crosses(base: alt.Chart, tooltip: list[alt.Tooltip]) -> alt.Chart:
    mark = base.mark_point(shape="cross", angle=45, size=60, filled=True, opacity=1)
    return mark.encode(color=alt.value(ON_NOT_ALLOWED), tooltip=tooltip[:2])


def _weights_in_words(title: str, weights: Tensor, rows: list[dict[str, Any]]) -> str:
    largest = max((row for row in rows if row["weight"] is not None), key=lambda r: r["weight"])
    closed = sum(row["weight"] is None for row in rows)
    masked = f" {closed} cells are closed by the mask." if closed else ""
    return (
        f"{title}. Heat map with {weights.shape[0]} queries as rows and {weights.shape[1]} keys as "
        f"columns. The largest weight, {largest['weight']:.2f}, goes from {largest['query']} to "
        f"{largest['key']}.{masked}"
    )


def attention_viewer(
    weights: Float[Tensor, "layers heads query_len key_len"]
    | Mapping[str, Float[Tensor, "layers heads _ _"]],
    query_tokens: Sequence[str] | Mapping[str, Sequence[str]],
    key_tokens: Sequence[str] | Mapping[str, Sequence[str]],
    *,
    gold: Pairs | Mapping[str, Pairs] | None = None,
    title: str = "Choose a layer and a head: what does each query look at?",
    gold_title: str = "outlined: the pairs that a reader would align",
    description: str | None = None,
) -> alt.LayerChart:
    """Return the maps of all layers and heads behind selectors, and of all kinds where several.

    `weights`, the tokens and the gold pairs (query, key) are mappings by kind when the figure holds
    several kinds of attention. Positions that no head of any layer may see come out grey.

    Raises:
        ValueError: kinds, maps and tokens do not fit each other.
    """
    maps = _by_kind(weights, ENCODER)
    queries, keys = _by_kind(query_tokens, next(iter(maps))), _by_kind(key_tokens, next(iter(maps)))
    if not (maps.keys() == queries.keys() == keys.keys()):
        raise ValueError(
            "weights, query tokens and key tokens need the same kinds of attention: "
            f"got {list(maps)}, {list(queries)}, {list(keys)}"
        )
    for kind, tensor in maps.items():
        check_tokens(tensor.shape, queries[kind], keys[kind])
    pairs = _by_kind(gold or {}, next(iter(maps))) if gold is not None else {}
    labels = [_labels(kind, queries[kind], keys[kind], pairs.get(kind, ())) for kind in maps]
    widest = [token for kind in maps for token in queries[kind]]
    size = step(max(max(len(queries[kind]), len(keys[kind])) for kind in maps), widest)
    words = alt.Title(wrapped(title), subtitle=wrapped(gold_title) if pairs else [])
    chart = (
        alt.LayerChart(layer=_chosen_map(maps, labels))
        .add_params(*_selectors(maps))
        .properties(width=alt.Step(size), height=alt.Step(size), title=words)
        # kinds have labels of their own: without a new layout, longer ones would be cut off
        .properties(autosize=alt.AutoSizeParams(type="pad", resize=True))
    )
    return described(chart, description or _viewer_in_words(title, maps))


def _by_kind(value: Any, kind: str) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {kind: value}


def _selectors(maps: Mapping[str, Tensor]) -> list[alt.Parameter]:
    n_layers = max(tensor.shape[0] for tensor in maps.values())
    n_heads = max(tensor.shape[1] for tensor in maps.values())
    kinds = alt.binding_select(options=list(maps), name="attention ")
    layers = alt.binding_select(options=list(range(1, n_layers + 1)), name="layer ")
    heads = alt.binding_select(options=[*range(1, n_heads + 1), MEAN], name="head ")
    params = [
        alt.param("layer", value=n_layers, bind=layers),
        alt.param("head", value=1, bind=heads),
    ]
    chosen = alt.param("kind", value=next(iter(maps)), bind=kinds)
    return [chosen, *params] if len(maps) > 1 else params


def _labels(
    kind: str, query_tokens: Sequence[str], key_tokens: Sequence[str], pairs: Pairs
) -> dict[str, Any]:
    outlined = [[0] * len(key_tokens) for _ in query_tokens]
    for i, j in pairs:
        outlined[i][j] = 1
    return {
        "kind": kind,
        "queries": token_labels(query_tokens),
        "keys": token_labels(key_tokens),
        "rows": list(range(len(query_tokens))),
        "columns": list(range(len(key_tokens))),
        "outlined": outlined,
    }


def _chosen_map(maps: Mapping[str, Tensor], labels: list[dict[str, Any]]) -> list[alt.Chart]:
    """One row of data a (kind, layer, head) with the whole map in it, opened in the browser."""
    rows = [
        {"kind": kind, "layer": layer, "head": head, "weight": values}
        for kind, tensor in maps.items()
        for layer, head, values in _maps_of(tensor)
    ]
    wanted = "datum.layer == layer && datum.head == head"
    if len(maps) > 1:
        wanted += " && datum.kind == kind"
    fields = [name for name in labels[0] if name != "kind"]
    base = (
        alt.Chart(alt.Data(values=rows))
        .transform_filter(wanted)
        .transform_lookup("kind", alt.LookupData(alt.Data(values=labels), "kind", fields))
        .transform_flatten(
            ["weight", "queries", "rows", "outlined"], as_=["weight", "query", "row", "outlined"]
        )
        .transform_flatten(
            ["weight", "keys", "columns", "outlined"], as_=["weight", "key", "column", "outlined"]
        )
        .encode(key_axis(), query_axis())
    )
    tooltip = _tooltip("weight:Q", "weight")
    cells = base.mark_rect(invalid=None).encode(color=_weight_colour(), tooltip=tooltip)
    if not any(1 in row for label in labels for row in label["outlined"]):
        return [cells]
    return [cells, *_outline(base.transform_filter("datum.outlined == 1"))]


def _outline(base: alt.Chart) -> list[alt.Chart]:
    # dark within white: visible on every colour of the scale
    return [
        base.mark_rect(filled=False, stroke=stroke, strokeWidth=width, opacity=1)
        for stroke, width in (("white", 4), ("black", 2))
    ]


def _maps_of(tensor: Tensor) -> Iterable[tuple[int, int | str, list[list[float | None]]]]:
    closed = (tensor == 0).all(dim=0).all(dim=0)
    for layer, heads in enumerate(tensor, start=1):
        named: list[tuple[int | str, Tensor]] = [*enumerate(heads, start=1)]
        named.append((MEAN, heads.mean(dim=0)))
        for head, weights in named:
            values = rounded(weights)
            for i, j in closed.nonzero().tolist():
                values[i][j] = None
            yield layer, head, values


def _viewer_in_words(title: str, maps: Mapping[str, Tensor]) -> str:
    parts = "; ".join(
        f"{kind}: {tensor.shape[0]} layers of {tensor.shape[1]} heads"
        for kind, tensor in maps.items()
    )
    return (
        f"{title} Heat map with queries as rows and keys as columns, for one layer and head at a "
        f"time, chosen by the selectors below it. It holds {parts}, and the mean over the heads."
    )


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
    chosen = alt.selection_point(
        name="score",
        fields=["query", "key"],
        on="click",
        toggle=False,
        clear=False,
        empty=False,
        value=[{"query": queries[0], "key": keys[0]}],
        bind={  # type: ignore[arg-type]  # Altair's types know one input only
            "query": alt.binding_select(options=queries, name="query "),
            "key": alt.binding_select(options=keys, name="key "),
        },
    )
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
        color=_signed_colour("score", largest), tooltip=_tooltip("score:Q", "score q·k")
    )
    layers = [cells.add_params(chosen), *_outline(base.transform_filter(chosen))]
    if max(scores.shape) <= PRINT_UP_TO:
        layers.append(_values_on_signed(base, "score", largest))
    return alt.LayerChart(layer=layers).properties(
        width=alt.Step(size), height=alt.Step(size), title=wrapped(title)
    )


def _values_on_signed(base: alt.Chart, field: str, largest: float) -> alt.Chart:
    dark = f"abs(datum.{field}) > {0.6 * largest:.4f}"
    ink = alt.when(dark).then(alt.value("white")).otherwise(alt.value("black"))
    text = alt.Text(f"{field}:Q", format=".1f")
    return base.mark_text(fontSize=11).encode(text=text, color=ink)


PARTS = {"q": "query", "k": "key", "product": "q × k"}


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
