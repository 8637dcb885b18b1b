"""What differs by seed, behind menus: shares in a map, and what any set of heads is needed for."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from walkthrough.drawing.channels import menu
from walkthrough.drawing.style import UNDER_WORDS, WEIGHT, described, rounded, step, tint, wrapped

Rows = Sequence[Mapping[str, Any]]


def by_seed(
    rows: Rows, columns: Sequence[str], menus: Mapping[str, str], *, title: str, unit: str
) -> alt.LayerChart:
    """Return a map with a row a seed and a column for each of `columns`; menus choose which one.

    Each row has a seed, `values` from 0 to 1 in the order of the columns, and the fields of
    `menus`, which maps them to their labels.
    """
    options = {field: list(dict.fromkeys(row[field] for row in rows)) for field in menus}
    data = [
        {**{f: row[f] for f in menus}, "seed": row["seed"], "column": list(columns)}
        | {"value": rounded(row["values"]), "place": list(range(len(columns)))}
        for row in rows
    ]
    wanted = " && ".join(f"datum.{field} == {field}" for field in menus)
    size = step(len(columns), ["training"])
    turned = -45 if max(map(len, columns)) > 5 else 0
    base = (
        alt.Chart(alt.Data(values=data))
        .transform_filter(wanted)
        .transform_flatten(["column", "value", "place"])
        .encode(
            alt.X(
                "column:N",
                sort=alt.EncodingSortField("place", op="min"),
                axis=alt.Axis(orient="top", title=None, labelAngle=turned, labelLimit=170),
            ),
            alt.Y("seed:O", title="training"),
        )
    )
    colour = alt.Color(
        "value:Q",
        scale=alt.Scale(domain=[0, 1], range=[tint(WEIGHT, 0.03), tint(WEIGHT, UNDER_WORDS)]),
        legend=None,
    )
    words = base.transform_calculate(said="format(100 * datum.value, '.0f')")
    chart = (
        alt.LayerChart(
            layer=[
                base.mark_rect().encode(color=colour),
                words.mark_text(fontSize=12).encode(text="said:N"),
            ]
        )
        .add_params(*(menu(f, options[f], f"{label} ") for f, label in menus.items()))
        .properties(
            width=alt.Step(size),
            height=alt.Step(22),
            title=alt.Title(wrapped(title), subtitle=unit),
        )
    )
    first = [row for row in rows if all(row[f] == options[f][0] for f in menus)]
    said = "; ".join(
        f"{column} {_span([row['values'][place] for row in first])}"
        for place, column in enumerate(columns)
    )
    chosen = ", ".join(options[field][0] for field in menus)
    return described(chart, f"{title}. Map with a row a seed. For {chosen}, {unit}: {said}.")


def sets_chart(
    rows: Rows, heads: Sequence[str], *, title: str, unit: str, closed: Sequence[str]
) -> alt.LayerChart:
    """Return a bar a seed, as long as the share of right words while the ticked heads are closed.

    Each row has `look`, which a menu chooses, a seed, and `shares`, one for each set of heads: set
    number s holds head h where bit h of s is 1. At first the heads `closed` are ticked.
    """
    boxes = [
        alt.param(f"h{n}", value=head in closed, bind=alt.binding_checkbox(name=f"{head} "))
        for n, head in enumerate(heads)
    ]
    ticked = ", ".join(f"h{n} ? ' {head}' : ''" for n, head in enumerate(heads))
    number = " + ".join(f"(h{n} ? {2**n} : 0)" for n in range(len(heads)))
    data = [{**row, "shares": rounded(row["shares"], 2)} for row in rows]
    looks = list(dict.fromkeys(row["look"] for row in rows))
    base = (
        alt.Chart(alt.Data(values=data))
        .transform_filter("datum.look == look")
        .transform_calculate(right=f"datum.shares[{number}]")
        .transform_calculate(said="format(100 * datum.right, '.0f')")
        .encode(
            alt.X(
                "right:Q",
                scale=alt.Scale(domain=[0, 1]),
                axis=alt.Axis(format="%", title=unit, values=[0, 0.5, 1]),
            ),
            alt.Y("seed:O", title="training"),
        )
    )
    bars = base.mark_bar(color=WEIGHT, height=14)
    words = base.mark_text(align="left", dx=4, fontSize=12).encode(text="said:N")
    told = (
        alt.Chart(alt.Data(values=[{}]))
        .transform_calculate(closed=f"'closed:' + join([{ticked}], '')")
        .mark_text(align="left", fontSize=12)
        .encode(text="closed:N", x=alt.value(0), y=alt.value(-8))
    )
    chart = (
        alt.LayerChart(layer=[bars, words, told])
        .add_params(menu("look", looks, "look of "), *boxes)
        .properties(height=alt.Step(20), title=alt.Title(wrapped(title), offset=22))
    )
    at = sum(2**n for n, head in enumerate(heads) if head in closed)
    said = _span([row["shares"][at] for row in rows if row["look"] == looks[0]])
    return described(chart, f"{title}. A bar a seed. With {', '.join(closed)} closed: {said}.")


def _span(values: Sequence[float]) -> str:
    low, high = min(values), max(values)
    return f"{low:.0%}" if f"{low:.0%}" == f"{high:.0%}" else f"{low:.0%} to {high:.0%}"
