"""Searches in a tree of outputs, scores under a length penalty, and seeds as lines (§6.1)."""

import html
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import altair as alt

from walkthrough.ch15_decoding.experiments.decoding import STOP, Prefix
from walkthrough.drawing.channels import menu, number_slider
from walkthrough.drawing.look import OUTPUT
from walkthrough.drawing.scene import Scene, glides, scene
from walkthrough.drawing.style import PALETTE, described, wrapped

WINS, LOSES, NOTHING = "wins", "loses", "(nothing)"
KEPT, FOUND = "0.2", "0.6"
NextWords = Callable[[Prefix], Mapping[str, float]]

_TREE_CSS = f"""
#scene-outputs .area{{position:relative;height:24em;margin-right:3em;
border:1px solid color-mix(in srgb,currentColor 40%,transparent)}}
@container(min-width:620px){{#scene-outputs .area{{height:19em}}}}
#scene-outputs .area>span{{position:absolute;overflow:hidden;padding-left:.5em;
display:flex;align-items:center;gap:.5em;box-sizing:border-box;border-style:solid;
border-color:color-mix(in srgb,currentColor 40%,transparent);border-width:0 0 1px 1px}}
#scene-outputs .area i{{position:absolute;inset:0;background:{OUTPUT};opacity:var(--a,var(--z))}}
#scene-outputs :is(b,small){{position:relative;font-weight:500;font-size:1em;line-height:1.1}}
#scene-outputs em{{position:absolute;right:-2.6em;transform:translateY(-50%);font-style:normal}}
"""


def beginnings(next_words: NextWords, prefix: Prefix = ()) -> Iterator[tuple[Prefix, float]]:
    """Go through all that may be said after a prefix, each with its share of what stands before."""
    for word, share in next_words(prefix).items():
        yield (*prefix, word), share
        if word != STOP:
            yield from beginnings(next_words, (*prefix, word))


def search_scene(
    next_words: NextWords,
    searches: Mapping[str, tuple[Collection[str] | None, str]],
    *,
    question: str = "How many beginnings does the search keep?",
    first: int = 0,
) -> Scene:
    """Return all outputs of a small model, a box a beginning, as high as it is probable.

    `searches` names the beginnings that each keeps (None: all), and what it says in the end.
    """
    whole: dict[Prefix, float] = {(): 1.0}
    for path, share in beginnings(next_words):
        whole[path] = whole[path[:-1]] * share
    columns = max(map(len, whole)) - 1  # the last end token needs no box
    ends = [(kept, (*said.split(), STOP)) for kept, said in searches.values()]
    below: dict[Prefix, float] = {(): 0.0}  # where the next box after a path begins
    drawn = ""
    for path, share in whole.items():
        if not path:
            continue
        top = below[path] = below[path[:-1]]
        below[path[:-1]] += share
        if len(path) > columns or (path[-1] == STOP and whole[path[:-1]] == share):
            continue
        is_last = path[-1] == STOP or next_words(path) == {STOP: 1.0}
        width = columns - len(path) + 1 if is_last else 1
        strengths = [
            FOUND if said[: len(path)] == path else KEPT if is_kept(path, kept) else "0"
            for kept, said in ends
        ]
        place = (
            f"left:{100 * (len(path) - 1) / columns:.2f}%;width:{100 * width / columns:.2f}%;"
            f"top:{100 * top:.2f}%;height:{100 * share:.2f}%"
        )
        word = "end" if path[-1] == STOP else path[-1]
        drawn += (
            f'<span style="{place}"><i class="glides" '
            f'style="--z:{strengths[first]};{glides(strengths)}"></i><b>{html.escape(word)}</b>'
            f'<small class="num">{share / whole[path[:-1]]:.2f}</small></span>'
        )
        if is_last:
            middle = 100 * (top + share / 2)
            drawn += f'<em class="num" style="top:{middle:.2f}%">{share:.2f}</em>'
    best = max(whole[path] for path in whole if path[-1:] == (STOP,))
    told = [
        f"It says <i>{html.escape(' '.join(said[:-1]))}</i>, P = {whole[said]:.2f}"
        + (": no output is more probable." if whole[said] == best else f", and misses {best:.2f}.")
        for _, said in ends
    ]
    return scene(
        "outputs",
        f'<div class="area">{drawn}</div>',
        question=question,
        choices=list(searches),
        says=told,
        first=first,
        css=_TREE_CSS,
    )


def is_kept(path: Prefix, kept: Collection[str] | None) -> bool:
    """Whether a beginning is among those kept."""
    return kept is None or " ".join(path) in kept


def length_penalty_chooser(
    hypotheses: Sequence[tuple[str, int, float]],
    *,
    title: str = "Move α: which of these outputs wins?",
    label: str = "length penalty α ",
    x_title: str = "score = log P / ((5 + length) / 6)^α",
    largest: float = 2.0,
) -> alt.LayerChart:
    """Return the scores of outputs as bars, for an α that a slider sets; the winner stands out.

    Each hypothesis is its words, its length with the end token, and its log probability.

    Raises:
        ValueError: fewer than two hypotheses, or a log probability that is not below 0.
    """
    if len(hypotheses) < 2:
        raise ValueError(f"a choice needs at least 2 outputs, got {len(hypotheses)}")
    for words, length, log_prob in hypotheses:
        if log_prob >= 0 or length < 1:
            raise ValueError(
                "an output has a length of at least 1 and a log probability below 0, "
                f"got {length} and {log_prob} for {words!r}"
            )
    names = [words or NOTHING for words, _, _ in hypotheses]
    rows = [
        {"output": name, "length": length, "log_prob": round(log_prob, 3)}
        for name, (_, length, log_prob) in zip(names, hypotheses, strict=True)
    ]
    base = (
        alt.Chart(alt.Data(values=rows))
        .transform_calculate(score="datum.log_prob / pow((5 + datum.length) / 6, alpha)")
        .transform_joinaggregate(best="max(score)")
        .transform_calculate(
            state=f"datum.score == datum.best ? '{WINS}' : '{LOSES}'",
            words="datum.output + '  (' + datum.length + ')'",
            number="format(datum.score, '.2f')",
        )
    )
    y = alt.Y("output:N", sort=names, axis=None)
    x = alt.X("score:Q", title=x_title, axis=alt.Axis(tickCount=5))
    colour = alt.Color(
        "state:N",
        scale=alt.Scale(domain=[WINS, LOSES], range=[PALETTE["vermilion"], PALETTE["grey"]]),
        legend=alt.Legend(title=None),
    )
    layers = [
        base.mark_bar(height=9, yOffset=9).encode(x, y, colour),
        base.mark_text(align="left", baseline="bottom", fontSize=12, dy=1).encode(
            y=y, x=alt.value(0), text="words:N"
        ),
        base.mark_text(align="right", dx=-3, dy=9, fontSize=12).encode(x, y, text="number:N"),
    ]
    chart = alt.LayerChart(layer=layers).add_params(
        number_slider("alpha", label, largest, start=0, step=0.05)
    )
    chart = chart.properties(width="container", height=alt.Step(38), title=wrapped(title))
    listed = "; ".join(
        f"{name}, length {length}, log P {log_prob:.2f}"
        for name, (_, length, log_prob) in zip(names, hypotheses, strict=True)
    )
    return described(
        chart,
        f"{title}. Bars of the score of each output, with a slider for α. Outputs: {listed}.",
    )


def seed_lines(
    measures: Mapping[str, Mapping[str, Sequence[float]]],
    *,
    title: str,
    x_title: str,
    label: str = "measure ",
    description: str,
) -> alt.LayerChart:
    """Return a grey line a seed and their mean over named settings; a menu chooses the measure.

    `measures[measure][setting]` has a value a seed.
    """
    settings = list(dict.fromkeys(name for found in measures.values() for name in found))
    rows: list[dict[str, Any]] = [
        {"measure": measure, "setting": setting, "seed": seed, "value": float(f"{value:.4g}")}
        for measure, found in measures.items()
        for setting, values in found.items()
        for seed, value in enumerate(values, start=1)
    ]
    data = alt.Chart(alt.Data(values=rows)).transform_filter("datum.measure == measure")
    x = alt.X("setting:N", sort=settings, title=x_title, axis=alt.Axis(labelAngle=0))
    axis = alt.Axis(tickCount=5, format="~g")
    y = alt.Y("value:Q", title=None, scale=alt.Scale(zero=False), axis=axis)
    mean = y.aggregate("mean").title(None)
    tooltip = ["setting:N", alt.Tooltip("mean(value):Q", title="mean", format=".4~g")]
    layers = [
        data.mark_line(color=PALETTE["grey"], opacity=0.45, strokeWidth=1.2).encode(
            x, y, detail="seed:N"
        ),
        data.mark_line(color=PALETTE["vermilion"], strokeWidth=3).encode(x, mean),
        data.mark_point(color=PALETTE["vermilion"], filled=True, size=60, opacity=1).encode(
            x, mean, tooltip=tooltip
        ),
    ]
    chart = alt.LayerChart(layer=layers).add_params(menu("measure", list(measures), label))
    chart = chart.properties(width="container", height=230, title=wrapped(title))
    return described(chart, description)
