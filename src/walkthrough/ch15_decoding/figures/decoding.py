"""Decoding as figures: the length penalty, the temperature, and what averaging changes (§6.1)."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from walkthrough.drawing.channels import number_slider
from walkthrough.drawing.style import PALETTE, described, wrapped

WINS, LOSES, NOTHING = "wins", "loses", "(nothing)"


def length_penalty_chooser(
    hypotheses: Sequence[tuple[str, int, float]],
    *,
    title: str = "Move α: which of these outputs wins?",
    label: str = "length penalty α ",
    x_title: str = "score = log P / ((5 + length) / 6)^α",
    largest: float = 2.0,
    description: str | None = None,
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
    slider = number_slider("alpha", label, largest, start=0, step=0.05)
    base = (
        alt.Chart(alt.Data(values=rows))
        .transform_calculate(score="datum.log_prob / pow((5 + datum.length) / 6, alpha)")
        .transform_joinaggregate(best="max(score)")
        .transform_calculate(state=f"datum.score == datum.best ? '{WINS}' : '{LOSES}'")
        .transform_calculate(
            words="datum.output + '  (' + datum.length + ')'",
            number="format(datum.score, '.2f')",
        )
    )
    y = alt.Y("output:N", sort=names, axis=None)
    x = alt.X("score:Q", title=x_title, axis=alt.Axis(tickCount=5))
    tooltip = [
        alt.Tooltip("output:N"),
        alt.Tooltip("length:Q", title="length, end token included"),
        alt.Tooltip("log_prob:Q", title="log P", format=".2f"),
        alt.Tooltip("score:Q", format=".3f"),
    ]
    colour = alt.Color(
        "state:N",
        scale=alt.Scale(domain=[WINS, LOSES], range=[PALETTE["vermilion"], PALETTE["grey"]]),
        legend=alt.Legend(title=None),
    )
    bars = base.mark_bar(height=9, yOffset=9).encode(x, y, colour, tooltip=tooltip)
    words = base.mark_text(align="left", baseline="bottom", fontSize=12, dy=1).encode(
        y=y, x=alt.value(0), text="words:N"
    )
    numbers = base.mark_text(align="right", dx=-3, dy=9, fontSize=12).encode(x, y, text="number:N")
    chart = alt.LayerChart(layer=[bars, words, numbers]).add_params(slider)
    chart = chart.properties(width="container", height=alt.Step(38), title=wrapped(title))
    return described(chart, description or _penalty_in_words(title, hypotheses))


def _penalty_in_words(title: str, hypotheses: Sequence[tuple[str, int, float]]) -> str:
    listed = "; ".join(
        f"{words or NOTHING}, length {length}, log P {log_prob:.2f}"
        for words, length, log_prob in hypotheses
    )
    return f"{title}. Bars of the score of each output, with a slider for α. Outputs: {listed}."


def temperature_chooser(
    shares: Mapping[str, float],
    *,
    shown: int = 8,
    title: str = "Temperature: what sampling would draw from",
    label: str = "temperature ",
    others: str = "all other words",
    x_title: str = "probability of being drawn",
    description: str | None = None,
) -> alt.LayerChart:
    """Return the next word's probabilities p^(1/T), scaled to a sum of 1, for a T on a slider.

    Words beyond the first `shown` are one bar; each of them is raised to the power by itself.

    Raises:
        ValueError: a share is negative, or they do not add up to 1.
    """
    total, smallest = sum(shares.values()), min(shares.values(), default=0)
    if abs(total - 1) > 1e-3 or smallest < 0:
        raise ValueError(
            "shares must not be negative and must add up to 1, "
            f"got a total of {total:.4f} and a smallest share of {smallest:.4f}"
        )
    ranked = sorted(shares, key=lambda word: -shares[word])
    named = set(ranked[:shown])
    rows = [
        {"word": word if word in named else others, "p": float(f"{shares[word]:.3g}")}
        for word in ranked
        if shares[word] > 0
    ]
    slider = number_slider("temperature", label, 3, start=1, smallest=0.1, step=0.1)
    base = (
        alt.Chart(alt.Data(values=rows))
        .transform_calculate(raised="pow(datum.p, 1 / temperature)")
        .transform_joinaggregate(total="sum(raised)")
        .transform_calculate(share="datum.raised / datum.total")
        .transform_aggregate(share="sum(share)", groupby=["word"])
    )
    y = alt.Y("word:N", sort=[*ranked[:shown], others], title=None)
    x = alt.X("share:Q", title=x_title, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(tickCount=5))
    tooltip = [alt.Tooltip("word:N"), alt.Tooltip("share:Q", format=".3f")]
    bars = base.mark_bar(color=PALETTE["sky"]).encode(x, y, tooltip=tooltip)
    numbers = base.transform_calculate(number="format(datum.share, '.2f')")
    text = numbers.mark_text(align="left", dx=3, fontSize=12).encode(x, y, text="number:N")
    chart = alt.LayerChart(layer=[bars, text]).add_params(slider)
    chart = chart.properties(width="container", height=alt.Step(22), title=wrapped(title))
    first = ", ".join(f"{word} {shares[word]:.2f}" for word in ranked[:shown])
    return described(
        chart,
        description or f"{title}. Bars, with a slider for the temperature. At 1: {first}.",
    )


TEST = "test_combinations"
AVERAGED, SINGLE, LAST = "average of the five", "one of the last five", "the last checkpoint"


def averaging_gain(
    runs: Sequence[Mapping[str, Any]],
    *,
    title: str = "Averaging helps where the rate stays high, and not where it falls to 0",
    x_title: str = "share of sentences translated exactly",
    row_titles: Mapping[str, str] | None = None,
    description: str | None = None,
) -> alt.VConcatChart:
    """Return, for each schedule and seed, the last checkpoints and their average.

    `runs` are those of `results/phrasebook-averaging.json`.

    Raises:
        ValueError: there are none.
    """
    if not runs:
        raise ValueError("a comparison needs at least one run; got none")
    rows = [row for run in runs for row in _points(run)]
    values = [row["exact"] for row in rows]
    kinds = [SINGLE, LAST, AVERAGED]
    scale = alt.Scale(domain=[min(values) - 0.01, max(values) + 0.01], nice=False)
    x = alt.X("exact:Q", title=x_title, scale=scale, axis=alt.Axis(format="%", tickCount=5))
    colours = [PALETTE["grey"], PALETTE["blue"], PALETTE["vermilion"]]
    shapes = ["circle", "square", "diamond"]
    legend = alt.Legend(title=None, columns=1)
    titles = row_titles or {}
    charts: list[alt.Chart] = []
    for rate in dict.fromkeys(run["rate"] for run in runs):
        data = alt.Data(values=[row for row in rows if row["rate"] == rate])
        chart = alt.Chart(data).mark_point(filled=True, opacity=0.85)
        charts.append(
            chart.encode(
                x,
                alt.Y("seed:N", title="seed", axis=alt.Axis(labelAngle=0, grid=True)),
                alt.Color("kind:N", scale=alt.Scale(domain=kinds, range=colours), legend=legend),
                alt.Shape("kind:N", scale=alt.Scale(domain=kinds, range=shapes), legend=legend),
                alt.Size(
                    "kind:N", scale=alt.Scale(domain=kinds, range=[35, 70, 110]), legend=legend
                ),
                tooltip=["seed:N", "kind:N", alt.Tooltip("exact:Q", format=".1%")],
            ).properties(
                width=260, height=alt.Step(24), title=wrapped(titles.get(rate, f"rate {rate}"))
            )
        )
    whole = alt.VConcatChart(vconcat=charts).properties(title=wrapped(title))
    return described(whole, description or _averaging_in_words(title, rows))


def _points(run: Mapping[str, Any]) -> list[dict[str, Any]]:
    found = [(SINGLE, c) for c in run["checkpoints"][:-1]]
    found += [(LAST, run["checkpoints"][-1]), (AVERAGED, run["average"])]
    return [
        {"seed": run["seed"], "rate": run["rate"], "kind": kind, "exact": score["exact"][TEST]}
        for kind, score in found
    ]


def _averaging_in_words(title: str, rows: Sequence[Mapping[str, Any]]) -> str:
    parts = []
    for rate in dict.fromkeys(row["rate"] for row in rows):
        for kind in (LAST, AVERAGED):
            found = [r["exact"] for r in rows if (r["rate"], r["kind"]) == (rate, kind)]
            parts.append(f"rate {rate}, {kind}: mean {sum(found) / len(found):.1%}")
    return f"{title}. Points for each seed. {'; '.join(parts)}."
