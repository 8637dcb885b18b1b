"""What batches of sentences hold: tokens, padding, and what was cut off (§5.1)."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from walkthrough.drawing.channels import menu
from walkthrough.drawing.style import PALETTE, described, wrapped

TOKEN, PADDING, CUT = "token", "padding", "cut off"
ROW, GAP = 5, 0.9  # px a sentence; rows between two batches
SUMMARY = "{padding:.0%} padding, {n_batches} batches"
LOSS = ", {cut:.0%} of the tokens cut off"

Batches = Sequence[Sequence[int]]


def padding_map(
    lengths: Sequence[int],
    strategies: Mapping[str, Batches],
    *,
    fixed: Mapping[str, int] | None = None,
    title: str = "Each line is a sentence, each block a batch; grey is wasted",
    axis: str = "positions →",
    label: str = "batches ",
    description: str | None = None,
) -> alt.LayerChart:
    """Return the batches of one way to group the sentences, chosen by name.

    A batch is padded to its longest sentence. `fixed` gives a strategy one length for all its
    batches: shorter sentences are padded to it, longer ones are cut.

    Raises:
        ValueError: there is no strategy, one does not hold every sentence once, or a batch
            is empty.
    """
    fixed = dict(fixed or {})
    unknown = [name for name in fixed if name not in strategies]
    if not strategies or unknown:
        raise ValueError(f"`fixed` must name strategies, {list(strategies)}; got {unknown}")
    for name, batches in strategies.items():
        if sorted(index for batch in batches for index in batch) != list(range(len(lengths))):
            raise ValueError(f"{name!r} must hold each of the {len(lengths)} sentences once")
        if not batches or not all(batches):
            sizes = [len(batch) for batch in batches]
            raise ValueError(f"every batch needs a sentence; those of {name!r} have {sizes}")
    rows = [_row(name, lengths, strategies[name], fixed.get(name)) for name in strategies]
    tallest = max(row["place"][-1] for row in rows) + 1
    longest = max([*lengths, *fixed.values()])
    chosen = menu("grouping", list(strategies), label)
    chart = (
        alt.LayerChart(layer=_layers(rows, axis, longest, tallest))
        .add_params(chosen)
        .properties(width="container", height=int(ROW * tallest) + 24, title=wrapped(title))
    )
    return described(chart, description or _in_words(title, rows))


def _row(name: str, lengths: Sequence[int], batches: Batches, fixed: int | None) -> dict[str, Any]:
    real: list[int] = []
    padded: list[int] = []
    whole: list[int] = []
    place: list[float] = []
    for number, batch in enumerate(batches):
        longest = fixed or max(lengths[index] for index in batch)
        for index in batch:
            place.append(round(len(place) + number * GAP, 1))
            real.append(min(lengths[index], longest))
            padded.append(longest)
            whole.append(max(lengths[index], longest))
    words = SUMMARY.format(padding=1 - sum(real) / sum(padded), n_batches=len(batches))
    if fixed:
        words += LOSS.format(cut=1 - sum(real) / sum(lengths))
    return {
        "grouping": name,
        "words": words,
        "real": real,
        "padded": padded,
        "whole": whole,
        "place": place,
    }


def _layers(rows: list[dict[str, Any]], axis: str, longest: int, tallest: float) -> list[alt.Chart]:
    scale_x = alt.Scale(domain=[0, longest], nice=False)
    scale_y = alt.Scale(domain=[-24 / ROW, tallest], reverse=True, nice=False)
    colours = {TOKEN: PALETTE["blue"], PADDING: "#a8a8a8", CUT: PALETTE["vermilion"]}
    colour = alt.Color(
        "part:N",
        scale=alt.Scale(domain=list(colours), range=list(colours.values())),
        legend=alt.Legend(title=None, columns=3),
    )
    chosen = alt.Chart(alt.Data(values=rows)).transform_filter("datum.grouping == grouping")
    lines = chosen.transform_flatten(["real", "padded", "whole", "place"]).transform_calculate(
        bottom="datum.place + 0.86", zero="0"
    )
    layers = []
    ends = {TOKEN: ("zero", "real"), PADDING: ("real", "padded"), CUT: ("padded", "whole")}
    for part, (start, end) in ends.items():
        layers.append(
            lines.transform_calculate(part=f"'{part}'")
            .mark_rect()
            .encode(
                alt.X(f"{start}:Q", scale=scale_x, title=axis),
                alt.Y("place:Q", scale=scale_y, axis=None),
                colour,
                x2=f"{end}:Q",
                y2="bottom:Q",
                tooltip=[
                    alt.Tooltip("real:Q", title=TOKEN),
                    alt.Tooltip("padded:Q", title="padded to"),
                ],
            )
        )
    summary = (
        chosen.transform_calculate(zero="0", place=f"{-12 / ROW}")
        .mark_text(align="left", fontSize=12, fontWeight=600)
        .encode(
            alt.X("zero:Q", scale=scale_x, title=axis),
            alt.Y("place:Q", scale=scale_y, axis=None),
            text="words:N",
        )
    )
    return [*layers, summary]


def _in_words(title: str, rows: list[dict[str, Any]]) -> str:
    found = "; ".join(f"{row['grouping']}: {row['words']}" for row in rows)
    return f"{title}. One way to make batches at a time. {found}."
