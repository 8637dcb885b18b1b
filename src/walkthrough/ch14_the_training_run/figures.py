"""One sentence while a model learns, the loss as it falls, translations, heads: chapter 14 (§5)."""

import time
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from html import escape
from typing import Any

import pandas as pd
from IPython.display import DisplayHandle, display
from jaxtyping import Float
from pandas.io.formats.style import Styler
from torch import Tensor

from walkthrough.drawing.lines import Number
from walkthrough.drawing.look import KEY, OUTPUT, WEIGHT
from walkthrough.drawing.loss import loss_curve
from walkthrough.drawing.scene import Scene, at, glides, scene
from walkthrough.drawing.still import Still, canvas, still
from walkthrough.drawing.style import CATEGORIES

_LEARNING = f"""
#scene-learning .stage{{display:grid;gap:1.1em 2em}}
@container(min-width:620px){{#scene-learning .stage{{grid-template-columns:1.15fr 1fr}}}}
#scene-learning .alone{{grid-column:1/-1;min-height:4.1em}}
#scene-learning .alone p{{margin:.15em 0 0;font-size:1.2em;font-weight:600;min-height:2.6em}}
@container(min-width:620px){{#scene-learning .alone p{{min-height:1.3em}}
#scene-learning .alone{{min-height:3em}}}}
#scene-learning .alone u{{text-decoration:underline .18em {OUTPUT};text-underline-offset:.2em}}
#scene-learning .sure{{display:grid;grid-template-columns:auto 1fr 3em;gap:.3em .7em;
align-items:center;align-content:start}}
#scene-learning :is(.sure,.loss)>strong{{grid-column:1/-1}}
#scene-learning strong{{font-weight:600}}
#scene-learning .sure b{{font-weight:500}}
#scene-learning .bar{{height:1.1em;border-radius:3px;
background:color-mix(in srgb,currentColor 9%,transparent)}}
#scene-learning .bar i{{display:block;height:100%;border-radius:3px;background:{WEIGHT};
width:var(--a,var(--z))}}
#scene-learning .sure span{{text-align:right}}
#scene-learning .plot{{position:relative;height:9.4em;margin:.4em .4em 0 0;
border:solid color-mix(in srgb,currentColor 35%,transparent);border-width:0 0 1.5px 1.5px}}
#scene-learning .plot svg{{position:absolute;inset:0}}
#scene-learning .plot i{{position:absolute;width:.9em;height:.9em;margin:-.45em;border-radius:50%;
background:{KEY};left:var(--a,var(--z));top:var(--b,var(--y))}}
#scene-learning .plot em{{position:absolute;font-style:normal;right:.2em;top:.1em}}
"""
SHOWN = 9
"""Words of a translation that is longer than any sentence."""


def learning(
    looks: Sequence[Mapping[str, Any]],
    losses: Sequence[tuple[int, float]],
    source: str,
    target: Sequence[str],
    *,
    first: int = 3,
) -> Scene:
    """Return a sentence as a model translates it after more and more updates, and its loss.

    `looks` are those of `experiments.look`; `losses` has a point an update.
    """
    top, last = max(loss for _, loss in losses), losses[-1][0]

    def place(update: int) -> tuple[float, float]:
        near = [loss for n, loss in losses if abs(n - update) <= 5]
        return 100 * update / last, 100 - 95 * sum(near) / len(near) / top

    said = "".join(
        f"<p{at(n, first=first)}>{_against(look['alone'], target)}</p>"
        for n, look in enumerate(looks)
    )
    bars = ""
    for row, word in enumerate([*target, "the end"]):
        sizes = [f"{100 * look['sure'][row]:.0f}%" for look in looks]
        numbers = "".join(f"<span{at(n, first=first)}>{s}</span>" for n, s in enumerate(sizes))
        style = f"--z:{sizes[first]};{glides(sizes)}"
        bars += (
            f'<b>{escape(word)}</b><div class="bar"><i class="glides" style="{style}"></i></div>'
            f'<div class="num">{numbers}</div>'
        )
    points = [place(look["update"]) for look in looks]
    left, down = [f"{x:.1f}%" for x, _ in points], [f"{y:.1f}%" for _, y in points]
    path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in map(place, range(1, last + 1, 5)))
    says = [
        f"After {look['update']} updates it says “{escape(_short(look['alone']))}” and gives the "
        f"right next word {100 * sum(look['sure']) / len(look['sure']):.0f} % on average."
        for look in looks
    ]
    style = f"--z:{left[first]};--y:{down[first]};{glides(left, down)}"
    return scene(
        "learning",
        '<div class="alone"><strong>alone</strong>, it translates '
        f"<i>{escape(source)}</i>{said}</div>"
        '<div class="sure"><strong>given the right words before, how sure it is of the next'
        f"</strong>{bars}</div>"
        '<div class="loss"><strong>training loss</strong><div class="plot">'
        '<svg class="stretch" viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">'
        f'<path d="{path}" stroke="{KEY}" stroke-width="2"/></svg>'
        f'<i class="glides" style="{style}"></i><em>{last} updates →</em></div></div>',
        question="After how many updates?",
        choices=[str(look["update"]) for look in looks],
        slider=True,
        first=first,
        description=" ".join(says),
        css=_LEARNING,
    )


def _short(said: str) -> str:
    words = said.split()
    return said if len(words) <= SHOWN else " ".join(words[:SHOWN]) + " …"


def _against(said: str, target: Sequence[str]) -> str:
    """Return the words of a translation, those that stand in their right place underlined."""
    words = _short(said).split()
    right = [n < len(target) and w.strip(".") == target[n] for n, w in enumerate(words)]
    return " ".join(
        f"<u>{escape(w)}</u>" if ok else escape(w) for w, ok in zip(words, right, strict=True)
    )


class LiveLoss:
    """A loss curve that grows in place while a cell trains; one chart stays when it ends.

        with LiveLoss(title="…") as live:
            for update, loss in train():
                live.add(update, train=loss)

    `history` keeps every point; `every` is the least time between redrawings in seconds.
    """

    def __init__(self, *, title: str, every: Number = 1.0) -> None:
        self.history: dict[str, list[tuple[Number, Number]]] = {}
        self._title, self._every = title, every
        self._handle: DisplayHandle | None = None
        self._drawn_at = float("-inf")

    def __enter__(self) -> "LiveLoss":
        return self

    def __exit__(self, *error: object) -> None:
        if self.history:
            self._draw()

    def add(self, step: Number, **losses: Number) -> None:
        """Add one point to each named curve, and redraw when it is time."""
        for name, loss in losses.items():
            self.history.setdefault(name, []).append((float(step), float(loss)))
        if time.monotonic() - self._drawn_at >= self._every:
            self._draw()

    def _draw(self) -> None:
        chart = loss_curve(self.history, title=self._title)
        if self._handle is None:
            self._handle = display(chart, display_id=True)
        else:
            self._handle.update(chart)
        self._drawn_at = time.monotonic()


TRANSLATION_COLUMNS = ("source", "model: ✓ exact, ✗ not")


def translations_table(
    sources: Sequence[str], references: Sequence[str], outputs: Sequence[str]
) -> Styler:
    """Return sources and outputs as a table that says which outputs are exact.

    Under an output that is not stands the reference, with the words that differ in bold. So the
    two can be compared line by line, on a narrow page too.
    """
    compared = [_compared(*pair) for pair in zip(outputs, references, strict=True)]
    columns = (map(escape, sources), compared)
    table = pd.DataFrame(dict(zip(TRANSLATION_COLUMNS, columns, strict=True)))
    left = [("text-align", "left"), ("vertical-align", "top")]
    styles: Any = [{"selector": "th, td", "props": left}]
    return table.style.hide(axis="index").set_table_styles(styles)


def _compared(output: str, reference: str) -> str:
    """Return the output as HTML; where it is not the reference, both, with what differs in bold."""
    if output == reference:
        return f"✓ {escape(output)}"
    said, wanted = output.split(), reference.split()
    return f"✗ {_unlike(said, wanted) or '(empty output)'}<br>reference: {_unlike(wanted, said)}"


def _unlike(words: list[str], others: list[str]) -> str:
    blocks = SequenceMatcher(a=words, b=others, autojunk=False).get_matching_blocks()
    kept = {place for block in blocks for place in range(block.a, block.a + block.size)}
    return " ".join(
        escape(word) if place in kept else f"<b>{escape(word)}</b>"
        for place, word in enumerate(words)
    )


def head_errors(
    by_seed: Mapping[str, Float[Tensor, "layers heads"]], diagonal: float, *, alt: str
) -> Still:
    """Return the alignment error of each head, a row a layer; the diagonal is dashed."""
    with canvas(600, 190) as (figure, axes):
        for (seed, errors), colour, mark in zip(by_seed.items(), CATEGORIES, "osD", strict=False):
            for layer, heads in enumerate(errors.tolist(), start=1):
                label = seed if layer == 1 else None
                axes.plot(heads, [layer] * len(heads), mark, color=colour, alpha=0.8, label=label)
        axes.axvline(diagonal, color="black", linestyle="--", linewidth=1)
        axes.set(xlim=(0, 1), ylim=(2.6, 0.4), yticks=[1, 2])
        axes.set_yticklabels(["layer 1", "layer 2"])
        axes.set_xlabel("alignment error (lower is better)")
        axes.legend(frameon=False, ncols=3, loc="lower right")
    return still(figure, alt=alt)
