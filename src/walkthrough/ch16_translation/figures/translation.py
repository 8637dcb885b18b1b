"""Results as figures: Table 2 as points, translations as cards to open (§6.1)."""

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from walkthrough.ch16_translation.experiments.published import System
from walkthrough.drawing.channels import menu, point_channels
from walkthrough.drawing.style import described, wrapped
from walkthrough.page.source import dark_and_light_css

KINDS = {"earlier, one model": "circle", "earlier, ensemble": "square", "Transformer": "diamond"}


# How a label stands beside its point (align, dx, dy), where to the right and level would overlap;
# for one language pair only where the pair is named too.
_PLACES: dict[str | tuple[str, str], tuple[str, int, int]] = {
    "ConvS2S ensemble": ("right", 8, -12),
    "GNMT + RL ensemble": ("left", -30, 14),
    ("GNMT + RL ensemble", "English–French"): ("right", 8, 14),
    "Deep-Att + PosUnk ensemble": ("right", 10, 14),
    "Deep-Att + PosUnk": ("right", -8, 0),
    "ConvS2S": ("left", 8, 8),
    ("ConvS2S", "English–French"): ("left", 8, -5),
    "MoE": ("right", -8, 0),
    "GNMT + RL": ("right", -8, 0),
}
_TICKS = {1e18: "10¹⁸", 1e19: "10¹⁹", 1e20: "10²⁰", 1e21: "10²¹"}


def cost_chart(
    systems: Sequence[System],
    *,
    title: str = "No earlier system is both better and cheaper than a Transformer",
    label: str = "language pair ",
    x_title: str = "training cost in FLOPs, as the paper estimates it",
    y_title: str = "BLEU on newstest2014, as printed",
    description: str | None = None,
) -> alt.LayerChart:
    """Return Table 2 as points, for a language pair that a menu chooses.

    Systems without both numbers are left out.

    Raises:
        ValueError: no system has both numbers.
    """
    rows = _cost_rows(systems)
    if not rows:
        raise ValueError("no system has both a BLEU and a training cost")
    pairs = list(dict.fromkeys(row["pair"] for row in rows))
    chosen = menu("pair", pairs, label)
    flops = [row["flops"] for row in rows]
    x = alt.X(
        "flops:Q",
        title=x_title,
        scale=alt.Scale(type="log", domain=[min(flops) / 2, max(flops) * 2], nice=False),
        axis=alt.Axis(
            values=list(_TICKS),
            labelExpr=" : ".join(f"datum.value == {at:g} ? '{say}'" for at, say in _TICKS.items())
            + " : ''",
        ),
    )
    y = alt.Y("bleu:Q", title=y_title, scale=alt.Scale(zero=False, padding=12))
    base = alt.Chart(alt.Data(values=rows)).transform_filter("datum.pair == pair")
    legend = alt.Legend(title=None, columns=1)
    colour, shape = point_channels("kind:N", list(KINDS), legend, shapes=list(KINDS.values()))
    points = base.mark_point(filled=True, size=110, opacity=1).encode(
        x,
        y,
        colour,
        shape=shape,
        tooltip=[
            alt.Tooltip("name:N", title="system"),
            alt.Tooltip("bleu:Q", title="BLEU"),
            alt.Tooltip("flops:Q", title="FLOPs", format=".1e"),
        ],
    )
    texts = [
        base.transform_filter(f"datum.align == '{align}' && datum.dx == {dx} && datum.dy == {dy}")
        .mark_text(align=align, dx=dx, dy=dy, fontSize=11)
        .encode(x, y, text="name:N")
        for align, dx, dy in sorted({(row["align"], row["dx"], row["dy"]) for row in rows})
    ]
    chart = (
        alt.LayerChart(layer=[points, *texts])
        .add_params(chosen)
        .properties(width="container", height=300, title=wrapped(title))
    )
    return described(chart, description or _cost_in_words(title, rows))


def _cost_rows(systems: Sequence[System]) -> list[dict[str, Any]]:
    rows = []
    for system in systems:
        for pair in sorted(set(system.bleu) & set(system.flops), reverse=True):
            usual = _PLACES.get(system.name, ("left", 9, 0))
            align, dx, dy = _PLACES.get((system.name, pair), usual)
            rows.append(
                {
                    "name": system.name,
                    "kind": system.kind,
                    "pair": pair,
                    "bleu": system.bleu[pair],
                    "flops": system.flops[pair],
                    "align": align,
                    "dx": dx,
                    "dy": dy,
                }
            )
    return sorted(rows, key=lambda row: row["pair"], reverse=True)


def _cost_in_words(title: str, rows: Sequence[Mapping[str, Any]]) -> str:
    listed = "; ".join(
        f"{row['pair']}, {row['name']}: {row['bleu']} BLEU for {row['flops']:.1e} FLOPs"
        for row in rows
    )
    return f"{title}. One point a system, chosen by language pair. {listed}."


@dataclass(frozen=True)
class Cards:
    """Translations to open one by one; shows itself as HTML, and as plain lines elsewhere."""

    rows: tuple[Mapping[str, Any], ...]
    words: tuple[str, str, str]
    empty: str

    def __repr__(self) -> str:
        if not self.rows:
            return self.empty
        return "\n".join(f"{row['score']:5.1f}  {row['translation']}" for row in self.rows)

    def _repr_html_(self) -> str:
        if not self.rows:
            return f"<p>{html.escape(self.empty)}</p>"
        cards = "".join(map(self._card, self.rows))
        return f'<figure class="translations"><style>{_card_style()}</style>{cards}</figure>'

    def _card(self, row: Mapping[str, Any]) -> str:
        known = row["reference"].split()
        ours = " ".join(
            html.escape(word) if word in known else f"<mark>{html.escape(word)}</mark>"
            for word in row["translation"].split()
        )
        lines = (html.escape(row["source"]), ours, html.escape(row["reference"]))
        listed = "".join(
            f"<dt>{html.escape(name)}</dt><dd>{line}</dd>"
            for name, line in zip(self.words, lines, strict=True)
        )
        return (
            f'<details class="translation"><summary><b>{row["score"]:.1f}</b> '
            f"{html.escape(row['translation'])}</summary><dl>{listed}</dl></details>"
        )


def translation_cards(
    rows: Sequence[Mapping[str, Any]],
    *,
    words: tuple[str, str, str] = ("source", "translation", "reference"),
    empty: str = "no translations are recorded here",
) -> Cards:
    """Return translations sorted by score, best first, each a line that opens.

    A row has `source`, `reference`, `translation` and `score`. Words of the translation that the
    reference does not have are marked.

    Raises:
        ValueError: a row lacks one of these.
    """
    for row in rows:
        missing = {"source", "reference", "translation", "score"} - set(row)
        if missing:
            raise ValueError(f"a translation needs a {', '.join(sorted(missing))}; got {dict(row)}")
    return Cards(tuple(sorted(rows, key=lambda row: -row["score"])), words, empty)


def _card_style() -> str:
    colours = dark_and_light_css(
        ".translation",
        {"t-edge": "#c9ced4", "t-mark": "#ffe3c2", "t-word": "#5a2a00"},
        {"t-edge": "#4a525b", "t-mark": "#5a3413", "t-word": "#ffe3c2"},
    )
    return colours + (
        "figure.translations{margin:0;text-align:left}"
        ".translation{border-left:3px solid var(--t-edge);margin:.4em 0;padding:.2em .8em;"
        "overflow-wrap:anywhere}"
        ".translation summary{cursor:pointer}"
        ".translation dl{margin:.4em 0 .2em}.translation dt{font-size:.85em;font-weight:600}"
        ".translation dd{margin:0 0 .4em}"
        ".translation mark{background:var(--t-mark);color:var(--t-word);padding:0 .15em;"
        "print-color-adjust:exact}"
    )
