"""BLEU as figures: the n-grams that match, and translations scored in many ways (§6.1)."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from transformer.analysis.bleu import brevity_penalty, clipped_matches, corpus_bleu
from walkthrough.drawing.channels import menu
from walkthrough.drawing.style import PALETTE, described, wrapped

MATCHED, CLIPPED, MISSING = "in the reference", "used up (clipped)", "not in the reference"
STATE_COLOURS = {
    MATCHED: PALETTE["blue"],
    CLIPPED: PALETTE["ochre"],
    MISSING: "#b5b5b5",
}
MAX_N = 4


def ngram_grid(
    translations: Mapping[str, Sequence[str]],
    reference: Sequence[str],
    *,
    title: str = "Each run of words, looked up: the long ones break first",
    label: str = "translation ",
    x_title: str = "length of the run of words, n",
    y_title: str = "starting at the word",
    description: str | None = None,
) -> alt.LayerChart:
    """Return, for a translation chosen by name, which of its n-grams the reference has.

    A row is a word, a column an n. Above each column: matches of total. First line: penalty, BLEU.

    Raises:
        ValueError: no translation, or one without words.
    """
    if not translations or not all(translations.values()):
        raise ValueError("the grid needs translations with at least one word each")
    cells = [row for name, words in translations.items() for row in _cells(name, words, reference)]
    heads = [row for name, words in translations.items() for row in _heads(name, words, reference)]
    names = list(translations)
    chosen = menu("translation", names, label)
    longest = max(map(len, translations.values()))
    chart = (
        alt.LayerChart(layer=_grid_layers(cells, heads, longest, x_title, y_title))
        .add_params(chosen)
        .properties(width="container", height=26 * (longest + 2), title=wrapped(title))
    )
    listed = "; ".join(f"{row['translation']}: {row['words']}" for row in heads if row["n"] == 0)
    return described(
        chart,
        description
        or f"{title}. Reference: {' '.join(reference)}. A row a word of the translation, a column "
        f"a length from 1 to {MAX_N}; colour says whether the reference has that run of words. "
        f"{listed}.",
    )


def _cells(name: str, words: Sequence[str], reference: Sequence[str]) -> list[dict[str, Any]]:
    rows = []
    for n in range(1, MAX_N + 1):
        left: dict[tuple[str, ...], int] = {}
        for start in range(len(reference) - n + 1):
            gram = tuple(reference[start : start + n])
            left[gram] = left.get(gram, 0) + 1
        known = set(left)
        for start in range(len(words) - n + 1):
            gram = tuple(words[start : start + n])
            state = MATCHED if left.get(gram) else CLIPPED if gram in known else MISSING
            left[gram] = max(left.get(gram, 0) - 1, 0)
            rows.append(
                {
                    "translation": name,
                    "row": start,
                    "n": n,
                    "word": words[start],
                    "run": " ".join(gram),
                    "state": state,
                }
            )
    return rows


def _heads(name: str, words: Sequence[str], reference: Sequence[str]) -> list[dict[str, Any]]:
    rows = [
        {
            "translation": name,
            "n": n,
            "words": f"{clipped_matches(words, reference, n)} of {max(len(words) - n + 1, 0)}",
        }
        for n in range(1, MAX_N + 1)
    ]
    penalty = brevity_penalty(len(words), len(reference))
    bleu = corpus_bleu([list(words)], [list(reference)])
    summary = f"brevity penalty {penalty:.2f}, BLEU {bleu:.1f}"
    return [{"translation": name, "n": 0, "words": summary}, *rows]


def _grid_layers(
    cells: list[dict[str, Any]],
    heads: list[dict[str, Any]],
    longest: int,
    x_title: str,
    y_title: str,
) -> list[alt.Chart]:
    scale_x = alt.Scale(domain=[-0.9, MAX_N + 0.5], nice=False)
    axis_x = alt.Axis(values=list(range(1, MAX_N + 1)), format="d", grid=False)
    x = alt.X("n:Q", scale=scale_x, axis=axis_x, title=x_title)
    scale_y = alt.Scale(domain=[-2.2, longest - 0.4], reverse=True, nice=False)
    y = alt.Y("row:Q", scale=scale_y, axis=alt.Axis(labels=False, ticks=False, grid=False))
    y = y.title(y_title)
    colour = alt.Color(
        "state:N",
        scale=alt.Scale(domain=list(STATE_COLOURS), range=list(STATE_COLOURS.values())),
        legend=alt.Legend(title=None, columns=1),
    )
    one = "datum.translation == translation"
    squares = (
        alt.Chart(alt.Data(values=cells))
        .transform_filter(one)
        .transform_calculate(
            left="datum.n - 0.45", right="datum.n + 0.45", top="datum.row - 0.4", end="datum.row+.4"
        )
        .mark_rect()
        .encode(
            alt.X("left:Q", scale=scale_x, title=x_title),
            alt.Y("top:Q", scale=scale_y, title=y_title),
            colour,
            x2="right:Q",
            y2="end:Q",
            tooltip=[alt.Tooltip("run:N", title="words"), alt.Tooltip("state:N", title="is")],
        )
    )
    words = (
        alt.Chart(alt.Data(values=[row for row in cells if row["n"] == 1]))
        .transform_filter(one)
        .mark_text(align="right", fontSize=12)
        .encode(alt.X("n:Q", scale=scale_x, axis=axis_x, title=x_title), y, text="word:N")
    )
    words = words.transform_calculate(n="0.45")
    counts = (
        alt.Chart(alt.Data(values=[row for row in heads if row["n"]]))
        .transform_filter(one)
        .transform_calculate(row="-0.85")
        .mark_text(fontSize=12)
        .encode(x, y, text="words:N")
    )
    summary = (
        alt.Chart(alt.Data(values=[row for row in heads if not row["n"]]))
        .transform_filter(one)
        .transform_calculate(row="-1.75")
        .mark_text(align="left", dx=5, fontSize=13, fontWeight=600)
        .encode(x=alt.value(0), y=y, text="words:N")
    )
    return [squares, words, counts, summary]


def ways_chart(
    scores: Mapping[str, float],
    *,
    agreed: str,
    title: str = "One model, 300 sentences, many numbers that are called BLEU",
    x_title: str = "score in percent",
    description: str | None = None,
) -> alt.LayerChart:
    """Return one bar a way to score, the agreed way in colour, and the number at its end.

    Raises:
        ValueError: the agreed way is not among the scores.
    """
    if agreed not in scores:
        raise ValueError(f"agreed must be one of {list(scores)}, got {agreed!r}")
    rows = [
        {"way": way, "score": round(value, 2), "kind": "agreed" if way == agreed else "other"}
        for way, value in scores.items()
    ]
    base = alt.Chart(alt.Data(values=rows))
    y = alt.Y("way:N", sort=list(scores), axis=None)
    x = alt.X("score:Q", title=x_title, scale=alt.Scale(domain=[0, 100]))
    colour = alt.Color(
        "kind:N",
        scale=alt.Scale(domain=["agreed", "other"], range=[PALETTE["vermilion"], PALETTE["grey"]]),
        legend=None,
    )
    bars = base.mark_bar(height=9, yOffset=9).encode(x, y, colour, tooltip=["way:N", "score:Q"])
    words = base.mark_text(align="left", baseline="bottom", fontSize=12, dy=1).encode(
        y=y, x=alt.value(0), text="way:N"
    )
    numbers = base.mark_text(align="left", dx=4, dy=9, fontSize=11).encode(
        x, y, text=alt.Text("score:Q", format=".1f")
    )
    rule = alt.Chart(alt.Data(values=[{"score": round(scores[agreed], 2)}]))
    line = rule.mark_rule(strokeDash=[4, 4], color=PALETTE["vermilion"]).encode(x="score:Q")
    chart = alt.LayerChart(layer=[bars, line, words, numbers]).properties(
        width="container", height=alt.Step(36), title=wrapped(title)
    )
    listed = "; ".join(f"{way}: {value:.1f}" for way, value in scores.items())
    return described(chart, description or f"{title}. {listed}. Agreed on is: {agreed}.")
