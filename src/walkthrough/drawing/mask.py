"""Boolean masks as maps: who may attend to whom."""

from collections.abc import Sequence

import altair as alt
from jaxtyping import Bool
from torch import Tensor

from walkthrough.drawing.maps import (
    KEYS,
    QUERIES,
    cell_rows,
    check_tokens,
    key_axis,
    query_axis,
)
from walkthrough.drawing.style import NOT_ALLOWED, ON_NOT_ALLOWED, WEIGHT, described, step, wrapped

OPEN, CLOSED = "True: may attend", "False: closed"


def mask_viewer(
    attend_mask: Bool[Tensor, "query_len key_len"],
    query_tokens: Sequence[str],
    key_tokens: Sequence[str],
    *,
    title: str = "Blue: this query may attend to this key",
    words: tuple[str, str] = (OPEN, CLOSED),
    axes: tuple[str, str] = (QUERIES, KEYS),
    description: str | None = None,
) -> alt.LayerChart:
    """Return a mask with its tokens; closed cells are grey and crossed out.

    `axes` say what a row and a column are, before a colon or as a whole.

    Raises:
        ValueError: the mask and the tokens do not fit.
    """
    check_tokens(attend_mask.shape, query_tokens, key_tokens)
    rows = cell_rows(query_tokens, key_tokens)
    for cell in rows:
        cell["state"] = words[0] if attend_mask[cell["row"], cell["column"]] else words[1]
    scale = alt.Scale(domain=list(words), range=[WEIGHT, NOT_ALLOWED])
    tooltip = [
        alt.Tooltip("query:N", title=axes[0].split(":")[0]),
        alt.Tooltip("key:N", title=axes[1].split(":")[0]),
        alt.Tooltip("state:N", title="mask"),
    ]
    base = alt.Chart(alt.Data(values=rows)).encode(key_axis(axes[1]), query_axis(axes[0]))
    cells = base.mark_rect(stroke="white", strokeWidth=1).encode(
        alt.Color("state:N", scale=scale, legend=alt.Legend(title=None, columns=1)),
        tooltip=tooltip,
    )
    crosses = (
        base.transform_filter(alt.datum.state == words[1])
        .mark_point(shape="cross", angle=45, size=60, filled=True, opacity=1)
        .encode(color=alt.value(ON_NOT_ALLOWED), tooltip=tooltip)
    )
    size = step(max(len(query_tokens), len(key_tokens)), query_tokens)
    chart = alt.LayerChart(layer=[cells, crosses]).properties(
        width=alt.Step(size), height=alt.Step(size), title=wrapped(title)
    )
    n_open = int(attend_mask.sum())
    return described(
        chart,
        description
        or f"{title}. Grid with {len(query_tokens)} rows and {len(key_tokens)} columns; "
        f"{n_open} of {attend_mask.numel()} cells are open.",
    )
