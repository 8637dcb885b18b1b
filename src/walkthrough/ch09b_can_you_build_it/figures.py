"""The figure of "Can you build it?": Figure 1 as a walk, in files with one slip each."""

from collections.abc import Mapping, Sequence
from html import escape
from math import inf, isfinite, log10

from walkthrough.capstone.walk import Seen, Walk
from walkthrough.ch09b_can_you_build_it.experiments import Walked
from walkthrough.drawing.scene import Scene, at, glides, scene

LEAST, MOST = -4.0, 1.0
"""Powers of ten: a difference of 10 fills the bar, one of 10⁻⁴ is a stroke."""

_CSS = """
#scene-walk .stage{display:grid;gap:.2em 2.5em;align-items:start}
@container(min-width:620px){#scene-walk .stage{grid-template-columns:1fr 1fr}}
#scene-walk .stage>div{display:grid;grid-template-columns:minmax(0,13.5em) 1fr auto;
gap:2px .7em;align-items:center;font-size:.82em}
#scene-walk strong{grid-column:1/-1;font-weight:650}
#scene-walk .bar{height:1.05em;border-radius:3px;background:color-mix(in srgb,#8b959f 22%,
transparent);overflow:hidden}
#scene-walk .bar i{display:block;height:100%;border-radius:3px;background:#d55e00;
width:calc(100%*var(--a,var(--z)))}
#scene-walk .sign{position:relative;width:1.5em;height:1.3em;font-weight:700}
#scene-walk .sign b{position:absolute;inset:0}
#scene-walk .says p{min-height:6.2em}
#scene-walk .says small{opacity:.85;font-size:.92em}
"""


def walk(
    found: Mapping[str, Walked],
    *,
    question: str = "Which line is forgotten?",
    stacks: Sequence[str] = ("encoder", "decoder"),
    agrees: str = "Every block gives the book's numbers.",
    translates: str = "It translates: {}",
    nothing: str = "(nothing)",
    first: int = 1,
) -> Scene:
    """Return the blocks of Figure 1 in their order, and how far each file's numbers part there."""
    walks = [one.walk for one in found.values()]
    written = [translates.format(one.translation or nothing) for one in found.values()]
    says = [
        f"{_said(one, agrees)}<br><small>{_text(words)}</small>"
        for one, words in zip(walks, written, strict=True)
    ]
    names = [block.name for block in walks[0].blocks]
    middle = next(n for n, name in enumerate(names) if "target" in name)
    parts = (range(middle), range(middle, len(names)))
    stage = "".join(
        f"<div><strong>{escape(stack)}</strong>"
        + "".join(_row(n, [one.blocks[n] for one in walks], walks, stack, first) for n in part)
        + "</div>"
        for stack, part in zip(stacks, parts, strict=True)
    )
    choices = [escape(name) for name in found]
    return scene(
        "walk", stage, question=question, choices=choices, says=says, first=first, css=_CSS
    )


def _row(n: int, seen: Sequence[Seen], walks: Sequence[Walk], stack: str, first: int) -> str:
    widths = [f"{strength(block):.2g}" for block in seen]
    parting = [frame for frame, one in enumerate(walks) if one.first is one.blocks[n]]
    agreeing = [frame for frame, block in enumerate(seen) if block.agrees]
    signs = f"<b{at(*parting, first=first)}>◀</b>" if parting else ""
    signs += f"<b{at(*agreeing, first=first)}>✓</b>" if agreeing else ""
    name = escape(seen[0].name.removeprefix(f"{stack} "))
    bar = f'<i class="glides" style="--z:{widths[first]};{glides(widths)}"></i>'
    return f'<span>{name}</span><div class="bar">{bar}</div><span class="sign">{signs}</span>'


def strength(block: Seen) -> float:
    """Return the length of a block's bar, from 0 to 1, on a scale of powers of ten."""
    if block.agrees:
        return 0.0
    gap = inf if block.difference is None else block.difference
    if not isfinite(gap):
        return 1.0
    return min(max((log10(gap) - LEAST) / (MOST - LEAST), 0.05), 1.0)


def _said(one: Walk, agrees: str) -> str:
    if one.agrees or one.first is None:
        return _text(agrees)
    cause = _text(one.cause).replace("`", "")
    return f"The first block that parts is <b>{_text(one.parting)}</b>. {cause}"


def _text(words: str) -> str:
    """Escape what is no attribute: its words describe the figure, too."""
    return escape(words, quote=False)
