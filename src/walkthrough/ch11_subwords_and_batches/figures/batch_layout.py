"""One batch laid out: source, what the decoder reads, what it must predict (§3.1, §5.1)."""

from collections.abc import Callable, Sequence
from typing import Any

import altair as alt

from transformer.config import BOS_ID, EOS_ID, PAD_ID
from transformer.data.batching import Batch
from walkthrough.drawing.channels import menu
from walkthrough.drawing.style import NOT_ALLOWED, PALETTE, described, wrapped

Pieces = Callable[[Sequence[int]], list[str]]
"""Ids to readable tokens, such as `SubwordTokenizer.pieces`."""

KINDS = {
    "token": PALETTE["blue"],
    "begin": PALETTE["green"],
    "end": PALETTE["purple"],
    "padding": NOT_ALLOWED,
}
SPECIAL = {PAD_ID: "padding", BOS_ID: "begin", EOS_ID: "end"}
SIDES = ("source", "reads", "gold")
VIEWS = ("ids", "positions", "padding mask", "counted in the loss")
YES, NO, NOT_ASKED = "T", "F", ""
ON_PADDING = "#1a1a1a"
ROOM, WIDEST = 306, 34  # px: beside row numbers on a phone; most for a cell
DIGIT, LARGEST = 0.57, 12  # width of a digit in font sizes; most for a font


def batch_grid(
    batch: Batch,
    pieces: Pieces,
    *,
    title: str = "One batch: choose what its cells show",
    axis: str = "position →",
    label: str = "show ",
    heads: tuple[str, str, str] = ("source", "the decoder reads", "gold: it must predict"),
    description: str | None = None,
) -> alt.LayerChart:
    """Return source, decoder input and gold of a batch, cell by cell.

    The selector chooses what a cell says: its id, its position, whether attention may look at it
    (not asked of the gold, which nobody reads), or whether the loss counts it (asked of the gold
    alone).
    """
    tables = (batch.source, batch.target_in, batch.target_out)
    rows, order, named = [], [], []
    for side, head, table in zip(SIDES, heads, tables, strict=True):
        order.append(f"{side} ")  # its name has a row of its own, so that cells have the width
        named.append({"row": order[-1], "words": head})
        for number, ids in enumerate(table.tolist(), start=1):
            order.append(f"{side} {number}")
            rows += _cells(order[-1], side, ids, pieces(ids))
    n_columns = max(table.shape[1] for table in tables)
    digits = len(str(max(int(table.max()) for table in tables)))
    size = min(WIDEST, ROOM // n_columns)
    x = alt.X("position:O", title=axis, axis=alt.Axis(orient="top", labelAngle=0))
    numbers = alt.Axis(ticks=False, domain=False, labelExpr="split(datum.label, ' ')[1]")
    y = alt.Y("row:N", title=None, scale=alt.Scale(domain=order), axis=numbers)
    base = alt.Chart(alt.Data(values=rows)).encode(x, y)
    tooltip = [
        alt.Tooltip("token:N", title="token"),
        alt.Tooltip("ids:N", title="id"),
        alt.Tooltip("position:O", title="position"),
    ]
    shown = menu("shown", VIEWS, label)
    font = min(LARGEST, (size - 2) / (DIGIT * digits))
    texts = base.transform_calculate(text="datum[shown]").mark_text(fontSize=round(font, 1))
    names = alt.Chart(alt.Data(values=named)).mark_text(align="left", fontSize=12, fontWeight=600)
    chart = (
        alt.LayerChart(
            layer=[
                base.mark_rect(stroke="white", strokeWidth=1).encode(_colour(), tooltip=tooltip),
                texts.encode(text="text:N", color=_ink()),
                names.encode(y, x=alt.value(0), text="words:N"),
            ]
        )
        .add_params(shown)
        .properties(width=alt.Step(size), height=alt.Step(20), title=wrapped(title))
    )
    return described(chart, description or _grid_in_words(title, batch))


def _colour() -> alt.Color:
    scale = alt.Scale(domain=list(KINDS), range=list(KINDS.values()))
    return alt.Color("kind:N", scale=scale, legend=alt.Legend(title=None, columns=4))


def _ink() -> Any:
    padding = alt.when("datum.kind == 'padding'")
    return padding.then(alt.value(ON_PADDING)).otherwise(alt.value("white"))


def _cells(row: str, side: str, ids: list[int], tokens: list[str]) -> list[dict[str, Any]]:
    cells = []
    for position, (number, token) in enumerate(zip(ids, tokens, strict=True)):
        real = YES if number != PAD_ID else NO
        values = (number, position, NOT_ASKED if side == "gold" else real)
        counted = real if side == "gold" else NOT_ASKED
        cells.append(
            {
                "row": row,
                "position": position,
                "kind": SPECIAL.get(number, "token"),
                "token": token,
                **dict(zip(VIEWS, (*values, counted), strict=True)),
            }
        )
    return cells


def _grid_in_words(title: str, batch: Batch) -> str:
    parts = []
    for side, table in zip(SIDES, (batch.source, batch.target_in, batch.target_out), strict=True):
        padding = int((table == PAD_ID).sum())
        parts.append(
            f"{side}: {table.shape[0]} rows of {table.shape[1]}, {padding} of them padding"
        )
    return f"{title}. {'; '.join(parts)}."
