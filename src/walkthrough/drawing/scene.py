"""A scene: one picture with a row of choices, that needs no script and no library.

Radio buttons choose a frame. The style sheet shows what belongs to it and lets the rest glide: an
element of class `at at-2` is there in frame 2 only, one of class `glides` takes the variables `--a`
and `--b` from its `--a2` and `--b2`. So a scene lives on the site, in JupyterLab, in Colab.
"""

import html
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from jaxtyping import Float
from torch import Tensor

from walkthrough.drawing.look import style
from walkthrough.drawing.strips import bar_code

FRAMES: Final = 8
"""So many frames every style sheet knows."""
MOST: Final = 20
"""So many a scene may have: its own style sheet knows them."""


@dataclass(frozen=True)
class Scene:
    """A figure that shows itself; as text it is its caption and what it shows in words."""

    markup: str
    caption: str
    description: str

    def __repr__(self) -> str:
        return f"{self.caption} {self.description}".strip()

    def _repr_html_(self) -> str:
        return self.markup


def scene(
    name: str,
    stage: str,
    *,
    caption: str = "",
    description: str = "",
    choices: Sequence[str] = (),
    question: str = "",
    first: int = 0,
    slider: bool = False,
    says: Sequence[str] = (),
    css: str = "",
) -> Scene:
    """Return a figure: choices above, the stage, one sentence a frame, a numbered caption.

    `choices` are HTML, one a frame. `first` is the frame that is shown at first, and the only one
    where a page cannot choose. Without a `description` its sentences describe it. `css` is what
    this figure alone needs.

    Raises:
        ValueError: more choices than frames, a number of sentences that does not fit, or neither
            sentences nor a description.
    """
    if len(choices) > MOST:
        raise ValueError(f"a scene has at most {MOST} frames, got {len(choices)} choices")
    if says and len(says) != len(choices):
        raise ValueError(f"{len(choices)} frames need as many sentences, got {len(says)}")
    description = description or re.sub(r"<[^>]+>", "", " ".join(says))
    if not description:
        raise ValueError("a scene needs a description, or sentences that describe it")
    spoken = "".join(f"<p{at(n, first=first)}>{text}</p>" for n, text in enumerate(says))
    inside = (
        _pick(name, choices, question, first, slider)
        + f'<div class="stage" role="img" aria-label="{html.escape(description)}">{stage}</div>'
        + (f'<div class="says" aria-live="polite">{spoken}</div>' if says else "")
    )
    return framed(name, inside, caption=caption, description=description, css=css)


def framed(name: str, inside: str, *, caption: str, description: str, css: str) -> Scene:
    """Return a figure around what is given: its style sheet before, its numbered caption after.

    Where a paragraph of the page is the caption, `caption` is empty.
    """
    number, _, words = caption.partition(". ")
    below = f"<figcaption><b>{number}</b> {words}</figcaption>" if caption else ""
    frames = max(FRAMES, inside.count('type="radio"'))
    markup = (
        f'<figure class="scene" id="scene-{name}"><style>{style(frames)}{css}</style>'
        f'<div class="scene-in">{inside}</div>{below}</figure>'
    )
    return Scene(markup.replace("\n", ""), caption, description)


def button(name: str, n: int, words: str, *, first: int) -> str:
    """Return the radio button that chooses frame `n`."""
    checked = " checked" * (n == first)
    radio = f'<input type="radio" name="{name}" value="{n}"{checked}>'
    return f"<label>{radio}<span>{words}</span></label>"


def _pick(name: str, choices: Sequence[str], question: str, first: int, slider: bool) -> str:
    if not choices:
        return f'<p class="ask">{question}</p>'
    buttons = "".join(button(name, n, words, first=first) for n, words in enumerate(choices))
    # the one line of script: a slider can't be read by a style sheet, so it presses the buttons
    drag = (
        "this.closest('.scene').querySelectorAll('[type=radio]')[this.value].checked=true"
        if slider
        else ""
    )
    follow = (
        " onchange=\"if(event.target.type=='radio')"
        "this.querySelector('[type=range]').value=event.target.value\""
        if slider
        else ""
    )
    track = (
        f'<input type="range" min="0" max="{len(choices) - 1}" value="{first}" step="1" '
        f'aria-label="{html.escape(question)}" oninput="{drag}">'
        if slider
        else ""
    )
    kind = "pick slides" if slider else "pick"
    return (
        f'<fieldset class="{kind}"{follow}><legend>{question}</legend>{track}'
        f'<div class="buttons">{buttons}</div></fieldset>'
    )


def at(*frames: int, first: int, more: str = "") -> str:
    """Return the class attribute of what is there in these frames only."""
    names = [more, "at", *(f"at-{n}" for n in frames), "first" * (first in frames)]
    return f' class="{" ".join(filter(None, names))}"'


def glides(values: Sequence[str], others: Sequence[str] = ()) -> str:
    """Return the variables of something that glides: its value in each frame."""
    pairs = [f"--a{n}:{value}" for n, value in enumerate(values)]
    pairs += [f"--b{n}:{value}" for n, value in enumerate(others)]
    return ";".join(pairs)


def strip(
    numbers: Float[Tensor, "n"], ink: str, *, reach: float, attributes: str = 'class="strip"'
) -> str:
    """Return a vector as a bar code: a stripe a number, the stronger the larger."""
    shown = bar_code(numbers.detach().double().numpy(), ink, reach)
    return f'<i {attributes} style="background-image:url({shown})"></i>'


def curve(left: float, right: float) -> str:
    """Return the path from a height on the left to one on the right; 100 × 100 is the whole."""
    return f"M0 {left:.2f}C45 {left:.2f} 55 {right:.2f} 100 {right:.2f}"


def middles(n: int, most: int) -> list[float]:
    """Return the heights of n rows' middles, where 100 is the height of `most` rows."""
    return [(row + 0.5) * 100 / most for row in range(n)]


def cells(words: Sequence[str], draw: Callable[[int, str], str]) -> str:
    """Return what `draw` makes of each word and its place."""
    return "".join(draw(n, html.escape(word)) for n, word in enumerate(words))
