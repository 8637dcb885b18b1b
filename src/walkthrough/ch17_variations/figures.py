"""The figures of chapter 17: Table 3 to explore, the vocabulary that fits it, differences."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from transformer.analysis.cost import VocabularyFit
from walkthrough.ch17_variations.intervals import t_interval
from walkthrough.ch17_variations.parameters import PARTS, by_part
from walkthrough.ch17_variations.rows import BASE, ROWS, Row
from walkthrough.drawing.channels import menu
from walkthrough.drawing.still import Still, canvas, still
from walkthrough.drawing.style import NARROW, PALETTE, described, wrapped

SYMBOLS = {
    "n_heads": "h",
    "n_layers": "N",
    "d_k": "dₖ",
    "d_v": "dᵥ",
    "d_ff": "d_ff",
    "d_model": "d_model",
    "dropout": "dropout",
    "smoothing": "smoothing",
    "positions": "positions",
}
THIS, OTHERS, BASE_COLOUR = PALETTE["vermilion"], PALETTE["grey"], PALETTE["blue"]


# Table 3 to explore ------------------------------------------------------------------------------


def table_explorer(
    rows: Mapping[str, Row] = ROWS,
    *,
    start: str = "A h=1",
    title: str = "What a row changed, what it cost, and where its parameters are",
    label: str = "row ",
    x_title: str = "perplexity, as printed: left is better",
    y_title: str = "BLEU, as printed",
    parts_title: str = "millions of parameters; a blue mark: base",
    description: str | None = None,
) -> alt.VConcatChart:
    """Return Table 3 with a menu of its rows: words, scores, and parameters by part.

    Raises:
        ValueError: `start` is no row.
    """
    names = [name for name in rows if name != BASE]
    chosen = menu("row", names, label, start=start)
    points = [
        {"name": name, "perplexity": row.printed.perplexity, "bleu": row.printed.bleu}
        for name, row in rows.items()
    ]
    words = [
        {"name": name, "line": line, "place": place}
        for name in names
        for place, line in enumerate(_lines(rows[name]))
    ]
    base = by_part(rows[BASE].config)
    parts = [
        {
            "name": name,
            "part": part,
            "millions": round(n / 1e6, 2),
            "base": round(base[part] / 1e6, 2),
        }
        for name in names
        for part, n in by_part(rows[name].config).items()
    ]
    chart = alt.vconcat(
        _words(words), _scores(points, x_title, y_title), _parts(parts, parts_title), spacing=14
    ).add_params(chosen)
    chart = chart.properties(title=wrapped(title)).resolve_scale(color="independent")
    return described(chart, description or _table_in_words(title, rows))


def _lines(row: Row) -> list[str]:
    changes = [
        f"{SYMBOLS[name]} {_plain(old)} → {_plain(new)}" for name, (old, new) in row.changes.items()
    ]
    printed, base = row.printed, ROWS[BASE].printed
    millions = sum(by_part(row.config).values()) / 1e6
    told = f", printed {row.millions}" if row.millions else ", none printed"
    return [
        ", ".join(changes[:2]),
        ", ".join(changes[2:]),
        f"perplexity {printed.perplexity:.2f} ({printed.perplexity - base.perplexity:+.2f}), "
        f"BLEU {printed.bleu:.1f} ({printed.bleu - base.bleu:+.1f})",
        f"parameters: {millions:.1f} million counted{told}",
    ]


def _plain(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _words(lines: list[dict[str, Any]]) -> alt.Chart:
    return (
        alt.Chart(alt.Data(values=lines))
        .transform_filter("datum.name == row")
        .mark_text(align="left", fontSize=12)
        .encode(
            x=alt.value(-90),
            y=alt.Y("place:O", axis=None),
            text="line:N",
        )
        .properties(width=NARROW, height=alt.Step(18))
    )


def _scores(points: list[dict[str, Any]], x_title: str, y_title: str) -> alt.LayerChart:
    data = alt.Chart(alt.Data(values=points))
    scale = alt.Scale(zero=False, padding=10)
    x = alt.X("perplexity:Q", title=x_title, scale=scale)
    y = alt.Y("bleu:Q", title=y_title, scale=scale, axis=alt.Axis(tickCount=5))
    tooltip = [
        alt.Tooltip("name:N", title="row"),
        alt.Tooltip("perplexity:Q", format=".2f"),
        alt.Tooltip("bleu:Q", title="BLEU", format=".1f"),
    ]
    one = data.transform_filter("datum.name == row")
    base = data.transform_filter(f"datum.name == '{BASE}'")
    return alt.LayerChart(
        layer=[
            data.mark_point(color=OTHERS, size=50).encode(x, y, tooltip=tooltip),
            base.mark_point(
                color=BASE_COLOUR, filled=True, opacity=1, shape="square", size=90
            ).encode(x, y, tooltip=tooltip),
            base.mark_text(dy=-12, dx=-4, fontSize=12, align="right").encode(x, y, text="name:N"),
            one.mark_point(color=THIS, filled=True, opacity=1, size=130).encode(
                x, y, tooltip=tooltip
            ),
            one.mark_text(dy=-12, fontSize=12).encode(x, y, text="name:N"),
        ]
    ).properties(width=NARROW, height=190)


def _parts(parts: list[dict[str, Any]], title: str) -> alt.LayerChart:
    data = alt.Chart(alt.Data(values=parts)).transform_filter("datum.name == row")
    largest = max(part["millions"] for part in parts)
    scale = alt.Scale(domain=[0, largest], nice=False)
    y = alt.Y("part:N", sort=list(PARTS), title=None)
    tooltip = [
        alt.Tooltip("part:N"),
        alt.Tooltip("millions:Q", title="millions", format=".2f"),
        alt.Tooltip("base:Q", title="base", format=".2f"),
    ]
    return alt.LayerChart(
        layer=[
            data.mark_bar(color=THIS, size=12).encode(
                alt.X("millions:Q", title=title, scale=scale), y, tooltip=tooltip
            ),
            data.mark_tick(color=BASE_COLOUR, thickness=3, size=20).encode(
                alt.X("base:Q", title=title, scale=scale), y, tooltip=tooltip
            ),
        ]
    ).properties(width=NARROW, height=alt.Step(24))


def _table_in_words(title: str, rows: Mapping[str, Row]) -> str:
    listed = "; ".join(
        f"{name}: perplexity {row.printed.perplexity:.2f}, BLEU {row.printed.bleu:.1f}"
        for name, row in rows.items()
    )
    return (
        f"{title}. A menu chooses a row of Table 3. Lines of text say what it changes, a point "
        f"stands among those of the other rows, bars show its parameters by part. {listed}."
    )


# The vocabulary that fits the column of parameters ------------------------------------------------


def residual_picture(
    fits: Mapping[str, VocabularyFit],
    *,
    title: str = "One vocabulary fits ten rows of Table 3",
    x_title: str = "printed minus counted, in millions",
    band: str = "rounds to the printed number",
    alt_text: str | None = None,
) -> Still:
    """Return printed minus counted parameters of each row, for several vocabularies.

    Raises:
        ValueError: there is no vocabulary.
    """
    if not fits:
        raise ValueError("a picture of residuals needs at least one vocabulary, got none")
    names = list(next(iter(fits.values())).residuals)
    colours = (PALETTE["grey"], PALETTE["vermilion"], PALETTE["blue"])
    with canvas(400, 60 + 20 * len(names)) as (figure, axes):
        axes.axvspan(-0.5, 0.5, color=PALETTE["green"], alpha=0.2, lw=0, label=band)
        axes.axvline(0, color="black", lw=0.8)
        for (label, fit), colour, marker in zip(fits.items(), colours, "so^", strict=False):
            x = [fit.residuals[name] for name in names]
            axes.plot(x, names, marker, color=colour, label=label)
        axes.invert_yaxis()
        axes.set_xlabel(x_title)
        axes.grid(axis="y")
        axes.tick_params(axis="y", length=0)
        figure.suptitle(title, x=0.01, ha="left", fontweight="semibold", fontsize=13)
        figure.legend(loc="outside lower left", ncols=1, fontsize=12)
    told = "; ".join(
        f"{label}: " + ", ".join(f"{name} {gap:+.2f}" for name, gap in fit.residuals.items())
        for label, fit in fits.items()
    )
    words = alt_text or f"{title}. Points at printed minus counted millions of parameters. {told}."
    return still(figure, alt=words)


# Differences -------------------------------------------------------------------------------------

Panel = Mapping[str, Sequence[float]]
"""A row → its differences from base: one of the paper's, or one a seed of ours."""


def difference_picture(
    panels: Mapping[str, Panel],
    *,
    title: str = "One run in the paper, five pairs in small",
    x_title: str = "100 · Δ ln perplexity",
    names: Sequence[str] = (),
    alt_text: str | None = None,
) -> Still:
    """Return a panel for the paper and for each corpus, rows below each other.

    A row with one difference is a diamond; one with several has a dot a seed, their mean and the
    interval of the mean, in blue where 0 lies outside.

    Raises:
        ValueError: no panel holds a row.
    """
    shown = list(names) or [name for name in ROWS if any(name in one for one in panels.values())]
    if not shown:
        raise ValueError("a picture of differences needs at least one row, got none")
    size = (130 + 145 * len(panels), 70 + 21 * len(shown))
    with canvas(*size, ncols=len(panels), sharey=True, squeeze=False) as (figure, axes):
        for ax, (heading, panel) in zip(axes[0], panels.items(), strict=True):
            ax.axvline(0, color="black", lw=0.8)
            for place, name in enumerate(shown):
                if name in panel:
                    _draw_row(ax, place, panel[name])
            ax.set_title(heading, fontsize=12)
            ax.set_xlabel(x_title)
            ax.grid(axis="y")
            ax.tick_params(axis="y", length=0)
            ax.margins(x=0.08)
        axes[0][0].set_yticks(range(len(shown)), shown)
        axes[0][0].invert_yaxis()
        figure.suptitle(title, x=0.01, ha="left", fontweight="semibold", fontsize=13)
    return still(figure, alt=alt_text or _differences_in_words(title, x_title, panels, shown))


def _draw_row(ax: Any, place: int, values: Sequence[float]) -> None:
    if len(values) == 1:
        ax.plot(values, [place], "D", color=PALETTE["vermilion"], markersize=6)
        return
    found = t_interval(values)
    colour = PALETTE["blue"] if found.side else PALETTE["grey"]
    ax.plot(values, [place] * len(values), "o", color=colour, markersize=3, alpha=0.55)
    ax.plot([found.low, found.high], [place, place], color=colour, lw=2.2, solid_capstyle="butt")
    ax.plot([found.mean], [place], "|", color=colour, markersize=13, markeredgewidth=2.5)


def _differences_in_words(
    title: str, x_title: str, panels: Mapping[str, Panel], names: Sequence[str]
) -> str:
    told = []
    for heading, panel in panels.items():
        rows = [f"{name} {_difference_said(panel[name])}" for name in names if name in panel]
        told.append(f"{heading}: {', '.join(rows)}")
    return f"{title}. Rows of Table 3, {x_title}. " + ". ".join(told) + "."


def _difference_said(values: Sequence[float]) -> str:
    if len(values) == 1:
        return f"{values[0]:+.1f}"
    found = t_interval(values)
    return f"{found.mean:+.1f} ({found.low:+.1f} to {found.high:+.1f})"
