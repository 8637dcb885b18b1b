"""Ways to score a query against a key, compared by what they learn (§3.2.1)."""

from collections.abc import Iterable, Sequence
from typing import Any

import altair as alt

from walkthrough.drawing.channels import line_channels, point_channels
from walkthrough.drawing.style import described, wrapped

RECALL_AXIS = "questions answered with the right key"
D_K_AXIS = "d_k (logarithmic)"


def recall_chart(
    rows: Iterable[dict[str, Any]],
    *,
    guessing: float,
    title: str = "Without the scale, 64 components and more learn worse",
    description: str | None = None,
) -> alt.LayerChart:
    """Return recall against d_k: a point a seed and a line through the means, by way to score.

    A row holds `score`, `d_k`, `seed` and `recall`. `guessing` is the recall of a blind guess.

    Raises:
        ValueError: there are no rows.
    """
    data = _rows(rows)
    kinds = _kinds(data)
    x = alt.X("d_k:Q", scale=alt.Scale(type="log", base=2), title=D_K_AXIS)
    x = x.axis(values=sorted({row["d_k"] for row in data}), format="d")
    y = alt.Y("recall:Q", scale=alt.Scale(domain=[0, 1]), title=RECALL_AXIS)
    base = alt.Chart(alt.Data(values=data)).encode(x=x, y=y)
    legend = alt.Legend(title=None)
    colour, dash = line_channels("score:N", kinds, legend)
    lines = base.mark_line().encode(
        y=alt.Y("mean(recall):Q", title=RECALL_AXIS), strokeDash=dash, color=colour
    )
    colour, shape = point_channels("score:N", kinds, legend)
    points = base.mark_point(filled=True, size=55, opacity=0.75).encode(
        shape=shape,
        color=colour,
        tooltip=["score:N", "d_k:Q", "seed:O", alt.Tooltip("recall:Q", format=".2f")],
    )
    blind = alt.Chart(alt.Data(values=[{"recall": guessing, "words": "guessing"}]))
    rule = blind.mark_rule(strokeDash=[2, 3], opacity=0.8).encode(y="recall:Q")
    label = blind.mark_text(align="right", dy=-7).encode(
        x=alt.value("width"), y="recall:Q", text="words:N"
    )
    layers = [lines, points, rule, label]
    chart = alt.LayerChart(layer=layers).properties(
        width="container", height=220, title=wrapped(title)
    )
    return described(chart, description or _recall_in_words(title, data, kinds, guessing))


def _rows(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    data = list(rows)
    if not data:
        raise ValueError("a comparison needs at least one row; got none")
    return data


def _kinds(data: Sequence[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(row["score"] for row in data))


def _recall_in_words(
    title: str, data: Sequence[dict[str, Any]], kinds: list[str], guessing: float
) -> str:
    largest = max(row["d_k"] for row in data)
    means = []
    for kind in kinds:
        found = [row["recall"] for row in data if (row["score"], row["d_k"]) == (kind, largest)]
        means.append(f"{kind} {sum(found) / len(found):.2f}")
    return (
        f"{title}. Share of questions answered with the right key, against d_k. Means at "
        f"d_k = {largest}: {', '.join(means)}. Guessing gives {guessing:.2f}."
    )
