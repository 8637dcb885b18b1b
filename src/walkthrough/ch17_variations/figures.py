"""The figures of chapter 17: Table 3 by letter, and what its rows cost here and there (§6.2)."""

import html
import math
from collections.abc import Mapping, Sequence

import altair as alt

from walkthrough.ch17_variations.rows import BASE, ROWS, TRAINED, Row, printed_difference
from walkthrough.drawing.channels import menu
from walkthrough.drawing.look import VECTOR
from walkthrough.drawing.scene import Scene, at, scene
from walkthrough.drawing.style import KEY, OUTPUT, PALETTE, VALUE, WEIGHT, described, wrapped
from walkthrough.lab import Comparison

PAPER, OURS, VOID = PALETTE["grey"], PALETTE["vermilion"], "#7676762e"

# Table 3 by letter -------------------------------------------------------------------------------

LETTERS = {
    "A": "The width is cut into another number of heads, <i>h</i>. All matrices keep their shapes, "
    "and the work stays; each head becomes wider or narrower.",
    "B": "The keys (green) become shorter, the values stay. So the matrices of queries and keys "
    "shrink, and the model has fewer parameters.",
    "C": "More or fewer layers, a wider or narrower model (left), wider or narrower feed-forward "
    "networks (right). Every row is a larger or a smaller model.",
    "D": "The model stays. What changes is the share of numbers that dropout takes away (left), "
    "and how much of the target the right word gets (right).",
    "E": "Each position gets a vector that is learned, in place of a sinusoid.",
}
_CSS = """
#scene-table3 .stage{min-height:20.2em}
#scene-table3 .effects{display:grid;grid-template-columns:8.4em 5.4em 1fr 2.9em;column-gap:.6em;
align-items:center;height:2.2em}
#scene-table3 .legend{height:auto;font-size:.96em;padding-bottom:.4em;line-height:1.25}
#scene-table3 .legend span{grid-column:1/-1;text-align:right}
#scene-table3 .effects>b{font-weight:500}
#scene-table3 .effects svg{width:100%;height:1.62em}
#scene-table3 .bars{position:relative;height:100%;
border-bottom:1px solid color-mix(in srgb,currentColor 14%,transparent)}
#scene-table3 .bars i{position:absolute;height:34%;border-radius:2px}
#scene-table3 .bars u{position:absolute;top:0;bottom:0;width:1px;background:currentColor}
#scene-table3 .num{text-align:right;line-height:1.05;font-size:.96em}
#scene-table3 .says{min-height:5.4em}
@container(min-width:620px){#scene-table3 .says{min-height:2.7em}
#scene-table3 .effects{grid-template-columns:8.4em 7em 1fr 3em;column-gap:1.2em;height:2em}
#scene-table3 .stage{min-height:18.6em}}
"""


def table_by_letter(
    found: Mapping[str, Comparison],
    *,
    letters: Mapping[str, str] = LETTERS,
    question: str = "Choose a letter of Table 3",
    scale: str = "perplexity against base in per cent, right is worse:",
    series: Sequence[str] = ("the paper, one run", "ours, ten pairs"),
) -> Scene:
    """Return Table 3 a letter at a time: each row's model, the paper's effect, and ours."""
    paper = {name: printed_difference(name) for name in ROWS}
    ours = {name: one.mean for name, one in found.items()}
    reach = [*paper.values(), *ours.values()]
    ends = min(reach) - 1, max(reach) + 1
    key = " · ".join(
        f'<b style="color:{colour}">■</b>&nbsp;{name}'
        for name, colour in zip(series, (PAPER, OURS), strict=True)
    )
    stage = f'<div class="effects legend"><span>{scale} {key}</span></div>'
    for frame, letter in enumerate(letters):
        for name, row in {**ROWS, **TRAINED}.items():
            if name == BASE or row.group == letter:
                effect = _effect(paper.get(name), ours.get(name), ends)
                cells = f"<b>{html.escape(name.removeprefix(letter))}</b>{_model(row, letter)}"
                stage += (
                    f'<div{at(frame, first=0)}><div class="effects">{cells}{effect}</div></div>'
                )
    said = "; ".join(
        f"{name} {effect:+.1f}" + (f", ours {ours[name]:+.1f}" if name in ours else "")
        for name, effect in paper.items()
    )
    return scene(
        "table3",
        stage,
        question=question,
        choices=[f"<b>{letter}</b>" for letter in letters],
        says=list(letters.values()),
        description=f"Table 3, a letter at a time: {scale} {said}.",
        css=_CSS,
    )


def _effect(paper: float | None, ours: float | None, ends: tuple[float, float]) -> str:
    """Return two bars from 0, the paper's above ours, and their numbers."""
    low, high = ends

    def place(value: float) -> float:
        return 100 * (value - low) / (high - low)

    bars, told = f'<u style="left:{place(0.0):.1f}%"></u>', ""
    for value, colour, top in ((paper, PAPER, 12), (ours, OURS, 54)):
        if value is None:
            told += "<br>"
            continue
        left, right = sorted((place(0.0), place(value)))
        where = f"left:{left:.1f}%;width:{right - left:.1f}%;top:{top}%"
        bars += f'<i style="{where};background:{colour}"></i>'
        number = f"{value:+.1f}".replace("-", "−") if value else "0"
        told += f"<b>{number}</b><br>" if colour == OURS else f"{number}<br>"
    return f'<div class="bars">{bars}</div><div class="num">{told}</div>'


def _model(row: Row, letter: str) -> str:
    """Return what the letter changes as a drawing of 100 × 30."""
    c, parts = row.config, list[tuple[float, float, float, float, str]]()
    if letter == "A":
        parts = [
            (100 * n / c.n_heads, 4, 100 / c.n_heads - 1.2, 22, WEIGHT) for n in range(c.n_heads)
        ]
    elif letter == "B":
        for n in range(8):
            tall = 26 * (c.d_k or 0) / 64
            parts += [(12.5 * n, 28 - tall, 5, tall, KEY), (12.5 * n + 5.5, 2, 5, 26, VALUE)]
    elif letter == "C":
        thick = 30 / 8
        for n in range(c.n_layers):
            y = 30 - thick * (n + 1)
            parts += [
                (50 - c.d_model / 22, y, c.d_model / 22, thick - 1, OUTPUT),
                (52, y, c.d_ff / 88, thick - 1, VECTOR),
            ]
    elif letter == "D":
        kept = round(10 * (1 - c.dropout))
        parts = [(5 * n, 8, 4, 14, WEIGHT if n < kept else VOID) for n in range(10)]
        sure = 44 * (1 - row.smoothing)
        parts += [(56, 8, sure, 14, OUTPUT), (57 + sure, 8, 43 - sure, 14, VECTOR)]
    else:
        parts = [(2 * n, 15, 1.4, 12 * _position(row, n), WEIGHT) for n in range(50)]
    drawn = "".join(
        f'<rect x="{x:.1f}" y="{min(y, y + h):.1f}" width="{w:.1f}" height="{abs(h):.1f}" '
        f'fill="{ink}"/>'
        for x, y, w, h, ink in parts
        if w > 0
    )
    return f'<svg viewBox="0 0 100 30" aria-hidden="true">{drawn}</svg>'


def _position(row: Row, n: int) -> float:
    if row.config.positions == "learned":
        return math.sin(12.9898 * n * n)  # no pattern
    return math.sin(n / 3)


# What the rows cost ------------------------------------------------------------------------------


def rows_chart(
    panels: Mapping[str, Sequence[Comparison]],
    *,
    title: str = "What a row costs: the paper's one run, and our pairs",
    label: str = "runs ",
    x_title: str = "per cent against base; left is better",
    kinds: Sequence[str] = (
        "the paper",
        "ours, 0 outside of the interval",
        "ours, 0 inside of it",
        "ours, too few pairs for one",
    ),
) -> alt.LayerChart:
    """Return rows with the paper's effect, our mean, its interval and the pairs.

    A menu chooses the runs. What had too few pairs for a verdict has no interval.

    Raises:
        ValueError: there are no runs.
    """
    if not panels:
        raise ValueError("a chart of rows needs runs, got none")
    data = [
        {"runs": runs, "row": one.ours, **drawn}
        for runs, found in panels.items()
        for one in found
        for drawn in _drawn(one, kinds)
    ]
    names = [name for name in TRAINED if any(row["row"] == name for row in data)]
    order = sorted(names, key=lambda name: TRAINED[name].group)  # the control beside its row
    ticks = [-50, -20, -10, -5, -2, 0, 2, 5, 10, 20, 50, 100]
    scale = alt.Scale(type="symlog", constant=3, nice=False)
    shown = alt.Chart(alt.Data(values=data)).transform_filter("datum.runs == runs")
    y = alt.Y("row:N", sort=order, title=None, scale=alt.Scale(domain=order))
    axis = alt.Axis(values=ticks, labelOverlap="greedy")
    x = alt.X("x:Q", title=x_title, scale=scale, axis=axis)
    inks = alt.Scale(
        domain=list(kinds), range=[PAPER, *(PALETTE[ink] for ink in ("blue", "ochre", "purple"))]
    )
    shapes = alt.Scale(domain=list(kinds), range=["diamond", "circle", "square", "triangle-up"])
    legend = alt.Legend(title=None, columns=1)
    colour = alt.Color("kind:N", scale=inks, legend=legend)
    tooltip = [
        alt.Tooltip("row:N"),
        alt.Tooltip("kind:N", title="whose"),
        alt.Tooltip("said:N", title="effect"),
    ]
    zero = alt.Chart(alt.Data(values=[{"x": 0}])).mark_rule(color=PAPER).encode(x)
    layers = [
        zero,
        shown.transform_filter("isValid(datum.pair)")
        .mark_point(size=22, opacity=0.5, filled=True, color=PAPER)
        .encode(alt.X("pair:Q", scale=scale), y),
        shown.transform_filter("isValid(datum.low)")
        .mark_rule(strokeWidth=3)
        .encode(alt.X("low:Q", scale=scale), y, colour, x2="high:Q"),
        shown.transform_filter("isValid(datum.x)")
        .mark_point(size=80, opacity=1, filled=True)
        .encode(x, y, colour, alt.Shape("kind:N", scale=shapes, legend=legend), tooltip=tooltip),
    ]
    chart = alt.LayerChart(layer=layers).add_params(menu("runs", list(panels), label))
    told = " ".join(
        f"{runs}: " + "; ".join(f"{one.ours} {one.effect}, {one.verdict}" for one in found) + "."
        for runs, found in panels.items()
    )
    chart = chart.properties(width="container", height=alt.Step(22), title=wrapped(title))
    return described(chart, f"{title}. A menu chooses the runs. {told}")


def _drawn(one: Comparison, kinds: Sequence[str]) -> list[dict[str, object]]:
    """Return the marks of a row: the paper's, ours, its pairs."""
    marks: list[dict[str, object]] = [{"pair": round(pair, 2)} for pair in one.differences]
    ours = {"x": round(one.mean, 2), "said": f"{one.effect}, {one.verdict}"}
    if one.verdict == "too few seeds":
        ours["kind"] = kinds[3]
    else:
        ours |= {"low": round(one.low, 2), "high": round(one.high, 2)}
        ours["kind"] = kinds[1] if one.low > 0 or one.high < 0 else kinds[2]
    marks.append(ours)
    if one.ours in ROWS:
        printed = printed_difference(one.ours)
        marks.append({"x": round(printed, 2), "kind": kinds[0], "said": f"{printed:+.1f} per cent"})
    return marks
