"""Counted parameters beside printed ones, with the vocabulary on a slider (Table 3)."""

from collections.abc import Mapping
from typing import Any

import altair as alt

from transformer.analysis.cost import fixed_parameter_count, parameter_count
from transformer.config import TransformerConfig
from walkthrough.figures.style import PALETTE, described, wrapped

PARTS = ("vocabulary matrix", "encoder and decoder layers")
PRINTED, COUNTED = "Table 3", "counted"
SLIDER = "vocabulary "
AXIS = "parameters, in millions"


def vocabulary_chart(
    models: Mapping[str, TransformerConfig],
    printed: Mapping[str, int],
    *,
    title: str = "Which vocabulary gives the printed number?",
    least: int = 30_000,
    most: int = 45_000,
    step: int = 250,
    parts: tuple[str, str] = PARTS,
    words: tuple[str, str] = (COUNTED, PRINTED),
    description: str | None = None,
) -> alt.LayerChart:
    """Return a bar a model, split in what grows with the vocabulary and what does not.

    A black and white tick marks the printed millions. The slider starts at the vocabulary of the
    first configuration; all have the same.

    Raises:
        ValueError: there is no model, a model has no printed number, or vocabularies differ.
    """
    if not models or set(models) - set(printed):
        raise ValueError(
            f"every model needs a printed number: got {list(models)} and {list(printed)}"
        )
    vocabularies = {config.vocab_size for config in models.values()}
    if len(vocabularies) > 1:
        raise ValueError(f"the models must share one vocabulary, got {sorted(vocabularies)}")
    start = vocabularies.pop()
    size = alt.param(
        "vocabulary",
        value=start,
        bind=alt.binding_range(min=least, max=most, step=step, name=SLIDER),
    )
    rows = [
        row for name, config in models.items() for row in _rows(name, config, printed[name], parts)
    ]
    base = alt.Chart(alt.Data(values=rows)).transform_calculate(
        millions="datum.fixed + datum.each * vocabulary"
    )
    y = alt.Y("model:N", sort=list(models), title=None)
    bars = base.mark_bar(size=26).encode(
        alt.X("millions:Q", title=AXIS, stack="zero"),
        y,
        alt.Color(
            "part:N",
            scale=alt.Scale(domain=list(parts), range=[PALETTE["green"], PALETTE["blue"]]),
            legend=alt.Legend(title=None, columns=1),
        ),
        order=alt.Order("order:Q"),
        tooltip=[
            alt.Tooltip("model:N", title="model"),
            alt.Tooltip("part:N", title="part"),
            alt.Tooltip("millions:Q", title="millions", format=".1f"),
        ],
    )
    chart = alt.LayerChart(layer=[bars, *_printed(base, y), _numbers(base, y, words)])
    chart = chart.add_params(size).properties(
        width="container", height=alt.Step(74), title=wrapped(title)
    )
    return described(chart, description or _in_words(title, models, printed, start))


def _rows(
    name: str, config: TransformerConfig, printed: int, parts: tuple[str, str]
) -> list[dict[str, Any]]:
    fixed = fixed_parameter_count(config)
    each = (parameter_count(config) - fixed) // config.vocab_size
    shared = {"model": name, "printed": printed}
    return [
        {**shared, "part": parts[0], "fixed": 0, "each": each / 1e6, "order": 1},
        {**shared, "part": parts[1], "fixed": fixed / 1e6, "each": 0, "order": 0},
    ]


def _printed(base: alt.Chart, y: alt.Y) -> list[alt.Chart]:
    x = alt.X("printed:Q", aggregate="max")
    return [
        base.mark_tick(thickness=thickness, size=38, color=colour, opacity=1).encode(x, y)
        for thickness, colour in ((6, "white"), (2, "black"))
    ]


def _numbers(base: alt.Chart, y: alt.Y, words: tuple[str, str]) -> alt.Chart:
    said = (
        f"'{words[0]}: ' + format(datum.total, '.1f') + ', {words[1]}: ' + format(datum.shown, 'd')"
    )
    return (
        base.transform_aggregate(total="sum(millions)", shown="max(printed)", groupby=["model"])
        .transform_calculate(said=said)
        .mark_text(align="left", dy=-28, fontSize=12.5)
        .encode(y=y, x=alt.value(2), text="said:N")
    )


def _in_words(
    title: str, models: Mapping[str, TransformerConfig], printed: Mapping[str, int], start: int
) -> str:
    counts = "; ".join(
        f"{name} {parameter_count(config) / 1e6:.1f} million, printed {printed[name]}"
        for name, config in models.items()
    )
    return (
        f"{title} Bars of counted parameters with a tick at the number that Table 3 prints. "
        f"With {start:,} tokens: {counts}. The slider changes the vocabulary."
    )
