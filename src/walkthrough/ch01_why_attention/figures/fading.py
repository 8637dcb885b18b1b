"""What a state still holds, word after word, and what a look back finds (§1)."""

import html
from collections.abc import Sequence

from jaxtyping import Float
from torch import Tensor

from walkthrough.drawing.look import OUTPUT, VECTOR
from walkthrough.drawing.scene import Scene, at, glides, scene

_CSS = """
#scene-fading .stage{display:grid;grid-template-columns:auto 1fr 3.4em;gap:.55em .9em;
align-items:center}
#scene-fading .rail{position:relative;height:1.9em;border-radius:3px;
background:color-mix(in srgb,currentColor 8%,transparent)}
#scene-fading .bar{position:absolute;inset:0 auto 0 0;width:var(--a);border-radius:3px}
#scene-fading .num{text-align:right}
"""


def fading(
    states: Float[Tensor, "length d"],
    context: Float[Tensor, "d"],
    words: Sequence[str],
    features: Sequence[str],
    *,
    question: str = "The network has read as far as",
    look_back: str = "attention: look back",
    read: str = "After <i>{word}</i>, this is all that the network still knows.",
    looked: str = "Attention mixes the states after all {n} words, by weight. {first} is back.",
) -> Scene:
    """Return a bar a feature: what the state holds after each word, then what attention finds."""
    frames = [*states.tolist(), context.tolist()]
    last = len(words) - 1
    rows = ""
    for column, feature in enumerate(features):
        values = [frame[column] for frame in frames]
        widths = [f"{100 * value:.1f}%" for value in values]
        numbers = "".join(
            f"<span{at(n, first=last)}>{value:.3f}</span>" for n, value in enumerate(values)
        )
        found = f'<i{at(len(words), first=last, more="bar")} style="background:{OUTPUT}"></i>'
        rows += (
            f'<b>{html.escape(feature)}</b><div class="rail glides" style="{glides(widths)}">'
            f'<i class="bar" style="background:{VECTOR}"></i>{found}</div>'
            f'<div class="num">{numbers}</div>'
        )
    faded = ", ".join(f"{word} {state[0]:.2f}" for word, state in zip(words, frames, strict=False))
    return scene(
        "fading",
        rows,
        description=f"How much of {features[0]} the state holds after each word: {faded}. "
        f"After a look back at all states: {frames[-1][0]:.2f}.",
        question=question,
        choices=[*map(html.escape, words), look_back],
        says=[
            *(read.format(word=html.escape(word)) for word in words),
            looked.format(n=len(words), first=words[0]),
        ],
        first=last,
        css=_CSS,
    )
