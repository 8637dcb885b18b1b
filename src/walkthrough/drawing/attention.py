"""Attention weights as maps: one map, or all layers and heads behind selectors."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import altair as alt
from jaxtyping import Bool, Float
from torch import Tensor

from walkthrough.drawing.channels import menu
from walkthrough.drawing.maps import (
    PRINT_UP_TO,
    cell_rows,
    cell_tooltip,
    check_tokens,
    key_axis,
    outline,
    query_axis,
)
from walkthrough.drawing.style import (
    NOT_ALLOWED,
    ON_NOT_ALLOWED,
    UNDER_WORDS,
    WEIGHT,
    described,
    rounded,
    step,
    tint,
    token_labels,
    wrapped,
)

MEAN = "mean"
LEAST = 0.03  # so that a weight of 0 is still a cell

ENCODER = "encoder self-attention"
DECODER = "decoder self-attention"
CROSS = "encoder–decoder attention"

Pairs = Iterable[tuple[int, int]]


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
        ValueError: the map, the mask and the tokens do not fit.
    """
    check_tokens(weights.shape, query_tokens, key_tokens)
    if attend_mask is not None:
        check_tokens(attend_mask.shape, query_tokens, key_tokens)
    rows = cell_rows(query_tokens, key_tokens)
    values = rounded(weights)
    for cell in rows:
        i, j = cell["row"], cell["column"]
        seen = attend_mask is None or bool(attend_mask[i, j])
        cell["weight"] = values[i][j] if seen else None
    size = step(max(len(key_tokens), len(query_tokens)), query_tokens)
    base = alt.Chart(alt.Data(values=rows)).encode(key_axis(), query_axis())
    tooltip = cell_tooltip("weight:Q", "weight")
    printed = max(weights.shape) <= PRINT_UP_TO
    colour = _weight_colour(UNDER_WORDS if printed else 1.0)
    layers = [base.mark_rect(invalid=None).encode(color=colour, tooltip=tooltip)]
    if printed:
        layers.append(_printed_values(base))
    if attend_mask is not None:
        layers.append(_crosses(base.transform_filter("datum.weight === null"), tooltip))
    chart = alt.LayerChart(layer=layers).properties(
        width=alt.Step(size), height=alt.Step(size), title=wrapped(title)
    )
    return described(chart, description or _weights_in_words(title, weights, rows))


def _weight_colour(strongest: float = 1.0) -> Any:
    scale = alt.Scale(range=[tint(WEIGHT, LEAST), tint(WEIGHT, strongest)], domain=[0, 1])
    legend = alt.Legend(title="weight", orient="bottom", gradientLength=160)
    return (
        alt.when("datum.weight === null")
        .then(alt.value(NOT_ALLOWED))
        .otherwise(alt.Color("weight:Q", scale=scale, legend=legend))
    )


def _printed_values(base: alt.Chart) -> alt.Chart:
    shown = base.transform_filter("datum.weight !== null")
    return shown.mark_text(fontSize=12).encode(text=alt.Text("weight:Q", format=".2f"))


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
    kind_label: str = "attention ",
    description: str | None = None,
) -> alt.LayerChart:
    """Return the maps of all layers and heads behind selectors, and of all kinds where several.

    `weights`, the tokens and the gold pairs (query, key) are mappings by kind when the figure holds
    several kinds of attention. Positions that no head of any layer may see come out grey.

    Raises:
        ValueError: kinds, maps, tokens and gold pairs do not fit each other.
    """
    maps = _by_kind(weights, ENCODER)
    queries, keys = _by_kind(query_tokens, next(iter(maps))), _by_kind(key_tokens, next(iter(maps)))
    if not (maps.keys() == queries.keys() == keys.keys()):
        raise ValueError(
            "weights, query tokens and key tokens need the same kinds of attention: "
            f"got {list(maps)}, {list(queries)}, {list(keys)}"
        )
    for kind, tensor in maps.items():
        if tensor.ndim != 4:
            raise ValueError(
                "the viewer needs maps of shape (layers, heads, query_len, key_len): "
                f"{kind!r} has {tuple(tensor.shape)}"
            )
        check_tokens(tensor.shape, queries[kind], keys[kind])
    pairs = _by_kind(gold or {}, next(iter(maps)))
    if not pairs.keys() <= maps.keys():
        raise ValueError(f"gold pairs need a map: got {list(pairs)} for maps of {list(maps)}")
    labels = [_labels(kind, queries[kind], keys[kind], pairs.get(kind, ())) for kind in maps]
    widest = [token for kind in maps for token in queries[kind]]
    size = step(max(max(len(queries[kind]), len(keys[kind])) for kind in maps), widest)
    words = alt.Title(wrapped(title), subtitle=wrapped(gold_title) if pairs else [])
    chart = (
        alt.LayerChart(layer=_chosen_map(maps, labels))
        .add_params(*_selectors(maps, kind_label))
        .properties(width=alt.Step(size), height=alt.Step(size), title=words)
        # kinds have labels of their own: without a new layout, longer ones would be cut off
        .properties(autosize=alt.AutoSizeParams(type="pad", resize=True))
    )
    return described(chart, description or _viewer_in_words(title, maps))


def _by_kind(value: Any, kind: str) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {kind: value}


def _selectors(maps: Mapping[str, Tensor], kind_label: str) -> list[alt.Parameter]:
    n_layers = max(tensor.shape[0] for tensor in maps.values())
    n_heads = max(tensor.shape[1] for tensor in maps.values())
    layer = alt.param("layer", value=1)  # a selector with one choice would be dead
    if n_layers > 1:
        layer = menu("layer", range(1, n_layers + 1), "layer ", start=n_layers)
    head = menu("head", [*range(1, n_heads + 1), MEAN], "head ")
    kind = [menu("kind", list(maps), kind_label)] if len(maps) > 1 else []
    return [*kind, layer, head]


def _labels(
    kind: str, query_tokens: Sequence[str], key_tokens: Sequence[str], pairs: Pairs
) -> dict[str, Any]:
    outlined = [[0] * len(key_tokens) for _ in query_tokens]
    for i, j in pairs:
        if not (0 <= i < len(query_tokens) and 0 <= j < len(key_tokens)):
            size = (len(query_tokens), len(key_tokens))
            raise ValueError(f"a gold pair must lie inside its map of {size}, got {(i, j)}")
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
    tooltip = cell_tooltip("weight:Q", "weight")
    cells = base.mark_rect(invalid=None).encode(color=_weight_colour(), tooltip=tooltip)
    if not any(1 in row for label in labels for row in label["outlined"]):
        return [cells]
    return [cells, *outline(base.transform_filter("datum.outlined == 1"))]


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
        f"{title}. Heat map with queries as rows and keys as columns, for one layer and head at a "
        f"time, chosen by the selectors below it. It holds {parts}, and the mean over the heads."
    )
