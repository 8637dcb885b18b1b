"""Counted parameters against printed ones, with the vocabulary on a slider (Table 3)."""

from collections.abc import Mapping
from typing import Any

import altair as alt

from transformer.analysis.cost import fixed_parameter_count, parameter_count
from transformer.config import TransformerConfig
from walkthrough.drawing.channels import number_slider
from walkthrough.drawing.style import PALETTE, described, wrapped

ROUNDS = 0.5  # millions: a count that is closer than this rounds to the printed number
SLIDER = "vocabulary "
AXIS = "counted minus printed, in millions"
TEMPLATE = ("counted ", ", printed ")
FITS, FITS_NOT = "rounds to the printed number", "does not"


def vocabulary_chart(
    models: Mapping[str, TransformerConfig],
    printed: Mapping[str, int],
    *,
    title: str = "Can both models have the number that Table 3 prints?",
    least: int = 30_000,
    most: int = 45_000,
    step: int = 250,
    words: tuple[str, str] = TEMPLATE,
    verdicts: tuple[str, str] = (FITS, FITS_NOT),
    axis: str = AXIS,
    slider: str = SLIDER,
    description: str | None = None,
) -> alt.LayerChart:
    """Return a bar a model from 0 to counted minus printed; the grey band is what rounds to 0.

    The slider starts at the vocabulary of the configurations, which must be one.

    Raises:
        ValueError: there is no model, a model has no printed number, vocabularies differ, or theirs
            is not on the slider.
    """
    if not models or set(models) - set(printed):
        raise ValueError(
            f"every model needs a printed number: got {list(models)} and {list(printed)}"
        )
    vocabularies = {config.vocab_size for config in models.values()}
    if len(vocabularies) > 1:
        raise ValueError(f"the models must share one vocabulary, got {sorted(vocabularies)}")
    start = vocabularies.pop()
    size = number_slider("vocabulary", slider, most, start=start, smallest=least, step=step)
    rows: list[dict[str, Any]] = []
    for name, config in models.items():
        fixed = fixed_parameter_count(config)
        each = (parameter_count(config) - fixed) // config.vocab_size
        rows.append(
            {"model": name, "fixed": fixed / 1e6, "each": each / 1e6, "printed": printed[name]}
        )
    ends = [
        row["fixed"] + row["each"] * vocabulary - row["printed"]
        for row in rows
        for vocabulary in (least, most)
    ]
    chart = alt.LayerChart(
        layer=_layers(rows, (min(ends) - 1, max(ends) + 1), words, verdicts, axis)
    )
    chart = chart.add_params(size).properties(
        width="container", height=alt.Step(64), title=wrapped(title)
    )
    return described(chart, description or _in_words(title, models, printed, start))


def _layers(
    rows: list[dict[str, Any]],
    domain: tuple[float | int, float | int],
    words: tuple[str, str],
    verdicts: tuple[str, str],
    axis: str,
) -> list[alt.Chart]:
    base = (
        alt.Chart(alt.Data(values=rows))
        .transform_calculate(millions="datum.fixed + datum.each * vocabulary", zero="0")
        .transform_calculate(gap="datum.millions - datum.printed")
        .transform_calculate(
            verdict=f"abs(datum.gap) < {ROUNDS} ? {verdicts[0]!r} : {verdicts[1]!r}",
            said=f"datum.model + ': {words[0]}' + format(datum.millions, '.1f') + "
            f"'{words[1]}' + datum.printed",
        )
    )
    x = alt.X("zero:Q", title=axis, scale=alt.Scale(domain=list(domain), nice=False))
    y = alt.Y("model:N", sort=[str(row["model"]) for row in rows], title=None, axis=None)
    colours = alt.Scale(domain=list(verdicts), range=[PALETTE["green"], PALETTE["vermilion"]])
    band = alt.Chart(alt.Data(values=[{"from": -ROUNDS, "to": ROUNDS}])).mark_rect(
        color=PALETTE["grey"], opacity=0.35
    )
    return [
        band.encode(x=alt.X("from:Q", title=axis), x2="to:Q"),
        base.mark_bar(size=16).encode(
            x,
            y,
            x2="gap:Q",
            color=alt.Color("verdict:N", scale=colours, legend=alt.Legend(title=None, columns=1)),
            tooltip=[
                alt.Tooltip("said:N", title="model"),
                alt.Tooltip("gap:Q", title=axis, format="+.2f"),
            ],
        ),
        base.mark_point(filled=True, size=110, opacity=1).encode(
            x=alt.X("gap:Q", title=axis), y=y, color=alt.Color("verdict:N", scale=colours)
        ),
        base.mark_text(align="left", dy=-19, fontSize=12.5).encode(
            y=y, x=alt.value(4), text="said:N"
        ),
    ]


def _in_words(
    title: str, models: Mapping[str, TransformerConfig], printed: Mapping[str, int], start: int
) -> str:
    counts = "; ".join(
        f"{name} {parameter_count(config) / 1e6:.1f} million, printed {printed[name]}"
        for name, config in models.items()
    )
    return (
        f"{title}. A bar for each model from 0 to counted minus printed parameters, and a band "
        f"that rounds to 0. With {start:,} tokens: {counts}. The slider changes the vocabulary."
    )
