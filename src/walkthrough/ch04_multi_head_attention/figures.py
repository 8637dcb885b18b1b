"""Five words through three heads in one drawing, and heads merged (§3.2.2)."""

import html
from collections.abc import Sequence
from typing import Any

import altair as alt
import torch
from jaxtyping import Float
from torch import Tensor

from walkthrough.drawing.channels import cycled, menu
from walkthrough.drawing.scene import Scene, at, scene
from walkthrough.drawing.strips import picture
from walkthrough.drawing.style import (
    CATEGORIES,
    KEY,
    NARROW,
    OUTPUT,
    QUERY,
    VALUE,
    WEIGHT,
    described,
    token_labels,
    wrapped,
)

EXCHANGED, AT_ONCE = "exchange, then flatten", "flatten at once"
WAYS = (EXCHANGED, AT_ONCE)


VECTOR = "#7d8b99"  # a word's own numbers
_CSS = """
#scene-heads .stage{display:grid;grid-template-columns:auto auto;gap:1.1em 1.2em;
align-items:center;justify-content:start;padding:0 4px;--c:.76em;--r:1.1em}
@container(min-width:620px){#scene-heads .stage{grid-template-columns:repeat(4,auto);
justify-content:space-between;--c:1.02em;--r:.9em}
#scene-heads :is(small,.words span){font-size:.86em}}
#scene-heads .lanes{display:grid;gap:.8em}
#scene-heads .lane{display:flex;gap:.55em;align-items:end;flex-wrap:wrap}
#scene-heads .lane>b{flex-basis:100%;font-weight:600;font-size:.94em;margin-bottom:-.3em}
#scene-heads .words{display:inline-grid;grid-auto-rows:var(--r);padding-right:.45em;
text-align:right;vertical-align:bottom;line-height:var(--r);font-size:1em}
#scene-heads .mat{display:inline-block}
#scene-heads small{display:block;text-align:center;font-size:.96em;white-space:nowrap}
#scene-heads .px{position:relative;height:calc(5*var(--r));background-size:100% 100%;
image-rendering:pixelated;border-radius:2px;
box-shadow:0 0 0 1px color-mix(in srgb,currentColor 25%,transparent)}
#scene-heads .px i{position:absolute;left:-2px;right:-2px;height:20%;border-radius:3px;
box-shadow:0 0 0 2px currentColor}
"""


def through_heads(
    words: Sequence[str],
    x: Float[Tensor, "words d_model"],
    heads: Sequence[dict[str, Float[Tensor, "words _"]]],
    output: Float[Tensor, "words d_model"],
    *,
    names: Sequence[str],
    first: int = 1,
    question: str = "Which word asks?",
) -> Scene:
    """Return every matrix from the words to the output of the heads; the asking word is framed.

    A head holds its `Q`, `K`, `V`, `weights` and what it `finds`; `names` are what it asks.
    """
    inks = {"Q": QUERY, "K": KEY, "V": VALUE, "weights": WEIGHT, "finds": OUTPUT}
    lanes, says = "", []
    for head, name in zip(heads, names, strict=True):
        parts = "".join(
            _matrix(part, head[part], ink, first, framed=part not in "KV")
            for part, ink in inks.items()
        )
        lanes += f'<div class="lane"><b>{html.escape(name)}</b>{parts}</div>'
    for row, word in enumerate(words):
        found = []
        for head, name in zip(heads, names, strict=True):
            weight, place = head["weights"][row].max(dim=0)
            sure = float(weight) > 1.5 / len(words)
            looks = f"<i>{html.escape(words[int(place)])}</i> {weight:.2f}" if sure else "nobody"
            found.append(f"{html.escape(name)} {looks}")
        says.append(f"<i>{html.escape(word)}</i> asks. {' · '.join(found)}.")
    concat = torch.cat([head["finds"] for head in heads], dim=-1)
    side = "".join(f"<span>{html.escape(word)}</span>" for word in words)
    return scene(
        "heads",
        f'<div><div class="words">{side}</div>{_matrix("x", x, VECTOR, first)}</div>'
        f'<div class="lanes">{lanes}</div>'
        + _matrix("→ Concat", concat, OUTPUT, first)
        + _matrix("→ · W<sup>O</sup>", output, OUTPUT, first),
        question=question,
        choices=[html.escape(word) for word in words],
        says=says,
        first=first,
        css=_CSS,
    )


def _matrix(label: str, matrix: Tensor, ink: str, first: int, *, framed: bool = True) -> str:
    """A matrix as a picture, a pixel a number, with a frame around the row of the asking word."""
    n_rows, n_columns = matrix.shape
    shown = picture((matrix / matrix.abs().max()).double().numpy(), ink)
    frames = "".join(
        f'<i{at(row, first=first)} style="top:{100 * row / n_rows:g}%"></i>'
        for row in range(n_rows * framed)
    )
    style = f"width:calc({n_columns}*var(--c));background-image:url({shown})"
    return (
        f'<div class="mat"><small>{label}</small><div class="px" style="{style}">{frames}</div>'
        "</div>"
    )


def merge_explorer(
    words: Sequence[str],
    d_model: int,
    *,
    start: int = 3,
    title: str = "Whose numbers, after the merge",
    n_heads_label: str = "heads ",
    way_label: str = "merge ",
    row_title: str = "row: this word's",
    column_title: str = "column of the merged matrix",
    description: str | None = None,
) -> alt.LayerChart:
    """Return the merged matrix with the origin of each number; selectors for heads and the way.

    Every number of heads that divides `d_model` can be chosen; `start` is chosen first.

    Raises:
        ValueError: there are no words, or `start` does not divide `d_model`.
    """
    divisors = [n for n in range(d_model, 0, -1) if d_model % n == 0]
    if not words or start not in divisors:
        raise ValueError(
            f"a merge needs words and a number of heads that divides d_model = {d_model}: "
            f"got {len(words)} words and {start} heads"
        )
    rows = [
        {"n_heads": n, "way": way, **_origins(words, n, d_model // n, way)}
        for n in divisors
        for way in WAYS
    ]
    chosen = [
        menu("n_heads", divisors, n_heads_label, start=start),
        menu("way", WAYS, way_label),
    ]
    fields: list[Any] = ["row", "column", "word", "head", "place"]
    shown = (
        alt.Chart(alt.Data(values=rows))
        .transform_filter("datum.n_heads == n_heads && datum.way == way")
        .transform_flatten(fields)
        .transform_calculate(
            label="slice(datum.word, 0, 3) + ' ' + datum.head",
            strange="datum.word == datum.row ? 0 : 1",
        )
        .transform_joinaggregate(strangers="sum(strange)", cells="count()")
    )
    layers = _merged(shown, words, d_model, row_title, column_title)
    chart = alt.LayerChart(layer=layers).add_params(*chosen)
    chart = chart.properties(
        width=alt.Step(NARROW // d_model), height=alt.Step(30), title=wrapped(title)
    )
    return described(chart, description or _merge_in_words(title, rows, words, d_model))


def _origins(words: Sequence[str], n_heads: int, d: int, way: str) -> dict[str, list[Any]]:
    length = len(words)
    labels = token_labels(words)

    def merged(heads: Tensor) -> list[int]:
        if way == EXCHANGED:
            heads = heads.transpose(0, 1)
        return list(heads.reshape(length, n_heads * d).flatten().tolist())

    shape = (n_heads, length, d)
    head = torch.arange(n_heads)[:, None, None].expand(shape)
    word = torch.arange(length)[None, :, None].expand(shape)
    place = torch.arange(d)[None, None, :].expand(shape)
    return {
        "row": [label for label in labels for _ in range(n_heads * d)],
        "column": [column + 1 for _ in labels for column in range(n_heads * d)],
        "word": [labels[i] for i in merged(word)],
        "head": [i + 1 for i in merged(head)],
        "place": [i + 1 for i in merged(place)],
    }


def _merged(
    shown: alt.Chart, words: Sequence[str], d_model: int, row_title: str, column_title: str
) -> list[alt.Chart]:
    base = shown.encode(
        alt.X("column:O", axis=alt.Axis(orient="top", title=column_title, labelAngle=0)),
        alt.Y("row:N", sort=token_labels(words), axis=alt.Axis(title=row_title, minExtent=72)),
    )
    cells = base.mark_rect(stroke="white", strokeWidth=1).encode(
        color=alt.Color(
            "head:O",
            scale=alt.Scale(domain=list(range(1, d_model + 1)), range=cycled(CATEGORIES, d_model)),
            legend=None,
        ),
        tooltip=[
            alt.Tooltip("row:N", title="row of"),
            alt.Tooltip("column:O", title="column"),
            alt.Tooltip("word:N", title="number of word"),
            alt.Tooltip("head:O", title="found by head"),
            alt.Tooltip("place:O", title="component in the head"),
        ],
    )
    names = base.mark_text(fontSize=12, color="white").encode(text="label:N")
    count = "datum.strangers + ' of ' + datum.cells"
    words_below = (
        shown.transform_calculate(words=f"{count} + ' numbers are in a wrong row'")
        .transform_filter(f"datum.column == 1 && datum.row == {words[0]!r}")
        .mark_text(align="left", fontSize=12, fontWeight=600)
        .encode(x=alt.value(0), y=alt.value(30 * len(words) + 14), text="words:N")
    )
    return [cells, names, words_below]


def _merge_in_words(
    title: str, rows: list[dict[str, Any]], words: Sequence[str], d_model: int
) -> str:
    strangers = {
        row["n_heads"]: sum(w != r for w, r in zip(row["word"], row["row"], strict=True))
        for row in rows
        if row["way"] == AT_ONCE
    }
    counted = ", ".join(f"{n} with {heads} heads" for heads, n in strangers.items())
    return (
        f"{title}. A grid of {len(words)} rows, one a word, and {d_model} columns; each cell names "
        "the word and the head its number comes from. Two selectors choose the number of heads "
        "and the way to merge. When heads and words are exchanged first, every number stands in "
        f"its own word's row. When they are flattened at once, numbers in a wrong row: {counted}."
    )
