"""What all maps share: queries as rows, keys as columns, tokens in order, room for labels."""

from collections.abc import Sequence
from typing import Any, Final

import altair as alt

from walkthrough.drawing.style import token_labels

QUERIES = "queries: who looks"
KEYS = "keys: who is looked at"
PRINT_UP_TO: Final = 9  # tokens a side: up to this every cell has room for its value


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


def cell_tooltip(field: str, title: str) -> list[alt.Tooltip]:
    """Return what hovering over a cell says: query, key, value."""
    return [
        alt.Tooltip("query:N", title="query"),
        alt.Tooltip("key:N", title="key"),
        alt.Tooltip(field, title=title, format=".3f"),
    ]


def outline(base: alt.Chart) -> list[alt.Chart]:
    """Return frames around the cells of `base`."""
    # dark within white: visible on every colour of the scale
    return [
        base.mark_rect(filled=False, stroke=stroke, strokeWidth=width, opacity=1)
        for stroke, width in (("white", 4), ("black", 2))
    ]
