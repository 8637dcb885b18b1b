"""Step 4: every word alone. Step 5: one word's way through the layers, as paths in a plane."""

import html
from collections.abc import Mapping, Sequence

from jaxtyping import Float
from torch import Tensor

from walkthrough.ch00_one_sentence.journey import Journey
from walkthrough.drawing.look import VECTOR
from walkthrough.drawing.scene import (
    Scene,
    at,
    cells,
    glides,
    scene,
    strip,
)
from walkthrough.drawing.style import PALETTE

_UNITS_CSS = """
#scene-alone .stage{display:grid;grid-template-columns:1fr auto;gap:.6em .9em;align-items:center}
#scene-alone .units{display:grid;grid-template-columns:repeat(32,1fr);gap:2px}
#scene-alone .units i{aspect-ratio:1;border-radius:20%;background:#7d8b99;opacity:var(--a)}
#scene-alone .stage>div:not(.units){display:grid}
#scene-alone .strip{height:1.8em}
"""


def each_word_alone(
    journey: Journey,
    *,
    question: str = "Choose a word",
    names: Sequence[str] = ("{n} numbers in", "{n} units", "{n} numbers out"),
    says: str = "For <i>{word}</i>, {lit} of {n} units are above zero. The others are silent.",
    caption: str = "Figure 0.6. The feed-forward network of the first layer at work on one word.",
    first: int = 3,
) -> Scene:
    """Return the inner units of the first feed-forward network, for the word chosen."""
    hidden = journey.hidden
    most = float(hidden.max())
    units = "".join(
        f'<i class="glides" style="{glides([_shade(value, most) for value in unit])}"></i>'
        for unit in hidden.T.tolist()
    )
    reach = float(journey.stages[1].abs().max()) * 0.7

    def vectors(stage: int) -> str:
        return (
            "<div>"
            + cells(
                journey.source,
                lambda n, _: strip(
                    journey.stages[stage, n],
                    VECTOR,
                    reach=reach,
                    attributes=at(n, first=first, more="strip"),
                ),
            )
            + "</div>"
        )

    sizes = (journey.stages.shape[2], hidden.shape[1], journey.stages.shape[2])
    labels = [f"<small>{name.format(n=n)}</small>" for name, n in zip(names, sizes, strict=True)]
    stage = (
        f'{vectors(1)}{labels[0]}<div class="units">{units}</div>{labels[1]}{vectors(2)}{labels[2]}'
    )
    lit = (hidden > 0).sum(dim=1).tolist()
    return scene(
        "alone",
        stage,
        caption=caption,
        question=question,
        first=first,
        css=_UNITS_CSS,
        choices=[html.escape(word) for word in journey.source],
        says=[
            says.format(word=html.escape(word), lit=count, n=hidden.shape[1])
            for word, count in zip(journey.source, lit, strict=True)
        ],
        description=f"A grid of {hidden.shape[1]} units; lit for each word: "
        + ", ".join(f"{w} {n}" for w, n in zip(journey.source, lit, strict=True)),
    )


def _shade(value: float, most: float) -> str:
    return f"{0.1 + 0.9 * min(1, value / most * 1.8):.2f}" if value > 0 else ".1"


_PLANE_CSS = """
#scene-path .stage{position:relative;aspect-ratio:1.75;margin:0 4.4em 0 .6em}
#scene-path .spot,#scene-path .name{position:absolute;left:var(--a);top:var(--b)}
#scene-path .spot{width:.85em;height:.85em;margin:-.42em;border-radius:50%;background:currentColor}
#scene-path .ring{background:var(--pst-color-background,Canvas);border:3px solid}
#scene-path .name{margin:-.75em 0 0 .75em;white-space:nowrap}
#scene-path .key{display:flex;gap:1.4em;flex-wrap:wrap;margin-top:1em}
#scene-path path{stroke-width:2.5;opacity:.55}
@container(max-width:459px){#scene-path .stage{aspect-ratio:1.1}}
"""


def ways_through_the_layers(
    paths: Mapping[str, Float[Tensor, "stages 2"]],
    kinds: Mapping[str, str],
    *,
    stages: Sequence[str] = ("start", "1 asks", "1 alone", "2 asks", "2 alone"),
    question: str = "Move through the layers",
    caption: str,
) -> Scene:
    """Return the ways of one word in several sentences; a slider moves it from layer to layer.

    `paths` is named by the word behind it, `kinds` maps those names to a kind, which has a colour.
    """
    inks = dict(zip(dict.fromkeys(kinds.values()), (PALETTE["sky"], PALETTE["grey"]), strict=False))
    places = _places(paths)
    last = len(stages) - 1
    lines, spots = "", ""
    for name, way in places.items():
        ink = inks[kinds[name]]
        for n in range(last):
            (x, y), (u, v) = way[n], way[n + 1]
            shown = at(*range(n + 1, last + 1), first=last)
            lines += f'<path{shown} stroke="{ink}" d="M{x:.1f} {y:.1f}L{u:.1f} {v:.1f}"/>'
        moves = glides([f"{x:.1f}%" for x, _ in way], [f"{y:.1f}%" for _, y in way])
        shape = "spot" if ink == PALETTE["sky"] else "spot ring"
        spots += f'<i class="{shape} glides" style="color:{ink};{moves}"></i>'
    for name, height in _apart({name: way[-1][1] for name, way in places.items()}).items():
        x = places[name][-1][0]
        spots += (
            f"<span{at(last, first=last)}>"
            f'<span class="name" style="--a:{x:.1f}%;--b:{height:.1f}%">{html.escape(name)}</span>'
            "</span>"
        )
    stage = (
        '<svg class="stretch" viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">'
        f"{lines}</svg>{spots}"
    )
    return scene(
        "path",
        stage,
        caption=caption,
        question=question,
        choices=stages,
        slider=True,
        first=last,
        css=_PLANE_CSS,
        description="Paths that begin at one point and end apart: "
        + ", ".join(f"{name} ({kind})" for name, kind in kinds.items()),
    )


def _places(paths: Mapping[str, Tensor]) -> dict[str, list[tuple[float, float]]]:
    """Scale all paths to a box from 3 to 97, with the second axis upwards."""
    whole = [point for way in paths.values() for point in way.tolist()]
    (left, right), (low, high) = ((min(axis), max(axis)) for axis in zip(*whole, strict=True))

    def scaled(x: float, y: float) -> tuple[float, float]:
        return 3 + 94 * (x - left) / (right - left), 97 - 94 * (y - low) / (high - low)

    return {name: [scaled(*point) for point in way.tolist()] for name, way in paths.items()}


def _apart(heights: Mapping[str, float], gap: float = 8.5) -> dict[str, float]:
    """Move names that would cover each other apart, from above to below."""
    found: dict[str, float] = {}
    lowest = -gap
    for name in sorted(heights, key=heights.__getitem__):
        lowest = max(heights[name], lowest + gap)
        found[name] = lowest
    return found
