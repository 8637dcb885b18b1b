"""How sentences split into subwords as merges are learned (§5.1)."""

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import altair as alt

from transformer.data.bpe import Merge, encode, merge_ranks
from walkthrough.drawing.channels import number_slider
from walkthrough.drawing.style import PALETTE, described, wrapped

SPACE = "▁"
WIDTH, LETTER = 310, 11  # px for the longest line on a phone; most px for a letter
LINE_HEIGHT = 56
NO_MERGE = "No merge yet: every character stands alone."
NTH_MERGE = "Merge {number}: {left} + {right} → {joined}"
COUNT = "' subwords'"


def merge_slider(
    merges: Sequence[Merge],
    lines: Sequence[str],
    *,
    value: int = 0,
    title: str = "More merges, fewer and longer subwords",
    label: str = "merges ",
    description: str | None = None,
) -> alt.LayerChart:
    """Return the lines cut into subwords; the slider says how many of the merges are known.

    A box is a subword. Those that the latest merge has made are framed. "▁" is the space before
    a word.

    Raises:
        ValueError: there is no line or no merge, or `value` is not a number of merges.
    """
    if not merges or not lines:
        raise ValueError(f"a slider needs merges and lines, got {len(merges)} and {len(lines)}")
    if not 0 <= value <= len(merges):
        raise ValueError(f"value must be between 0 and {len(merges)} merges, got {value}")
    rows = [_row(number, line, merges) for number, line in enumerate(lines)]
    longest = max(len(row["char"]) for row in rows)
    x = alt.Scale(domain=[0, longest], nice=False)
    y = alt.Scale(domain=[-0.45, len(lines)], reverse=True, nice=False)
    chart = (
        alt.LayerChart(layer=[*_pieces(rows, x, y), _latest(merges, x, y)])
        .add_params(number_slider("known", label, len(merges), start=value))
        .properties(
            width=longest * min(LETTER, WIDTH / longest),
            height=int(LINE_HEIGHT * (len(lines) + 0.45)),
            title=wrapped(title),
        )
    )
    return described(chart, description or _in_words(title, merges, lines))


def joined_at(line: str, merges: Sequence[Merge]) -> list[int]:
    """Return, for each character of " " + line, the merge that ties it to the character before.

    Counted from 1. A subword's first character gets `len(merges) + 1`: no merge ties it.

    Raises:
        ValueError: a later merge opens what an earlier one had tied.
    """
    length = len(line) + 1
    never = len(merges) + 1
    tied = [never] * length
    for known in range(1, len(merges) + 1):
        parts = encode(line, merge_ranks(merges[:known]))
        starts = {0, *accumulate(map(len, parts))}
        for at in range(length):
            if at not in starts:
                tied[at] = min(tied[at], known)
            elif tied[at] < never:
                raise ValueError(f"merge {known} unties character {at} of {line!r}")
    return tied


def _row(number: int, line: str, merges: Sequence[Merge]) -> dict[str, Any]:
    return {
        "line": number,
        "char": list((" " + line).replace(" ", SPACE)),
        "at": list(range(len(line) + 1)),
        "joined": joined_at(line, merges),
    }


def _pieces(rows: list[dict[str, Any]], x: alt.Scale, y: alt.Scale) -> list[alt.Chart]:
    letters = (
        alt.Chart(alt.Data(values=rows))
        .transform_flatten(["char", "at", "joined"])
        .transform_calculate(
            first="datum.joined > known ? 1 : 0",
            fresh="known > 0 && datum.joined == known ? 1 : 0",
            middle="datum.at + 0.5",
            height="datum.line + 0.62",
        )
        .transform_window(
            piece="sum(first)",
            sort=[alt.SortField("at")],
            groupby=["line"],
            frame=[None, 0],
        )
    )
    axis_x = alt.X("left:Q", scale=x, axis=None)
    axis_y = alt.Y("top:Q", scale=y, axis=None)
    boxes = letters.transform_aggregate(
        start="min(at)", end="max(at)", fresh="max(fresh)", groupby=["line", "piece"]
    )
    boxes = boxes.transform_calculate(
        left="datum.start + 0.07",
        right="datum.end + 0.93",
        top="datum.line + 0.38",
        bottom="datum.line + 0.86",
        shade="datum.piece % 2 == 0 ? 'even' : 'odd'",
    )
    shades = alt.Scale(domain=["odd", "even"], range=[PALETTE["blue"], PALETTE["purple"]])
    counts = (
        letters.transform_aggregate(n="max(piece)", groupby=["line"])
        .transform_calculate(left="0", top="datum.line + 0.2", words=f"datum.n + {COUNT}")
        .mark_text(align="left", fontSize=12)
        .encode(axis_x, axis_y, text="words:N")
    )
    return [
        boxes.mark_rect(cornerRadius=3).encode(
            axis_x, axis_y, x2="right:Q", y2="bottom:Q", color=_shade(shades)
        ),
        boxes.transform_filter("datum.fresh == 1")
        .mark_rect(cornerRadius=3, filled=False, stroke=PALETTE["vermilion"], strokeWidth=3)
        .encode(axis_x, axis_y, x2="right:Q", y2="bottom:Q"),
        letters.mark_text(font="monospace", fontSize=12, color="white").encode(
            alt.X("middle:Q", scale=x, axis=None),
            alt.Y("height:Q", scale=y, axis=None),
            text="char:N",
        ),
        counts,
    ]


def _shade(scale: alt.Scale) -> alt.Color:
    return alt.Color("shade:N", scale=scale, legend=None)


def _latest(merges: Sequence[Merge], x: alt.Scale, y: alt.Scale) -> alt.Chart:
    rows = [{"number": 0, "words": NO_MERGE}]
    for number, (left, right) in enumerate(merges, start=1):
        left, right = left.replace(" ", SPACE), right.replace(" ", SPACE)
        words = NTH_MERGE.format(number=number, left=left, right=right, joined=left + right)
        rows.append({"number": number, "words": words})
    return (
        alt.Chart(alt.Data(values=rows))
        .transform_filter("datum.number == known")
        .transform_calculate(left="0", top="-0.25")
        .mark_text(align="left", fontSize=12, fontWeight=600)
        .encode(
            alt.X("left:Q", scale=x, axis=None),
            alt.Y("top:Q", scale=y, axis=None),
            text="words:N",
        )
    )


def _in_words(title: str, merges: Sequence[Merge], lines: Sequence[str]) -> str:
    counts = []
    for line in lines:
        after = len(encode(line, merge_ranks(merges)))
        counts.append(f"“{line}”: {len(line) + 1} characters, {after} subwords at the end")
    return f"{title}. A slider from 0 to {len(merges)} merges. {'; '.join(counts)}."
