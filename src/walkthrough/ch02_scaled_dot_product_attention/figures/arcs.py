"""The lead picture: arcs from the word that asks to the words it looks at (§3.2.1)."""

import html
from collections.abc import Sequence

from jaxtyping import Float
from torch import Tensor

from walkthrough.drawing.scene import Scene, at, button, framed
from walkthrough.drawing.style import ink

_CSS = """
.sky{height:clamp(110px,24cqw,180px)}
.sky g{opacity:.12;transition:opacity .35s}
#scene-arcs .line{display:grid;grid-template-columns:repeat(var(--n),minmax(0,1fr));
text-align:center}
#scene-arcs label span{display:inline-block;padding:.25em .1em;font-size:.96em}
@container(min-width:460px){#scene-arcs label span{padding:.25em .45em;font-size:1em}}
#scene-arcs .line div{padding-top:.3em}
"""


def arcs(
    weights: Float[Tensor, "length length"],
    words: Sequence[str],
    *,
    first: int,
    question: str = "Choose a word: where does it look?",
) -> Scene:
    """Return a sentence whose words are buttons; an arc is as wide as the weight it stands for."""
    table, n = weights.tolist(), len(words)
    middles = [(place + 0.5) * 100 / n for place in range(n)]
    drawn = "".join(
        f'<g class="on-{row}">'
        + "".join(
            f'<path d="{_arc(middles[row], middles[column])}" stroke="{ink("weight")}" '
            f'stroke-width="{1 + 20 * weight:.1f}" stroke-opacity="{0.3 + 0.6 * weight:.2f}"/>'
            for column, weight in enumerate(values)
        )
        + "</g>"
        for row, values in enumerate(table)
    )
    buttons = "".join(
        button("arcs", i, html.escape(word), first=first) for i, word in enumerate(words)
    )
    numbers = "".join(
        "<div>"
        + "".join(
            f"<b{at(row, first=first, more='num')}>{table[row][column]:.2f}</b>" for row in range(n)
        )
        + "</div>"
        for column in range(n)
    )
    strongest = ", ".join(
        f"{word} → {words[values.index(max(values))]} {max(values):.2f}"
        for word, values in zip(words, table, strict=True)
    )
    description = f"Arcs from each word to those it looks at; the widest: {strongest}."
    inside = (
        f'<fieldset class="pick" style="--n:{n}"><legend>{question}</legend><div class="sky">'
        '<svg class="stretch" viewBox="0 0 100 100" preserveAspectRatio="none" role="img" '
        f'aria-label="{html.escape(description)}">{drawn}</svg></div>'
        f'<div class="line">{buttons}</div><div class="line">{numbers}</div></fieldset>'
    )
    return framed("arcs", inside, caption="", description=description, css=_CSS)


def _arc(start: float, end: float) -> str:
    """Return the path between two words; to itself a word draws a loop."""
    if start == end:
        return f"M{start:.1f} 100C{start - 7:.1f} 55 {start + 7:.1f} 55 {start:.1f} 100"
    top = 70 - 0.8 * abs(start - end)
    return f"M{start:.1f} 100C{start:.1f} {top:.1f} {end:.1f} {top:.1f} {end:.1f} 100"
