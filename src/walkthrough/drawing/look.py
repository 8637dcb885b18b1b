"""How the scenes look: one colour for one thing, and the style sheet that moves them."""

from functools import cache
from typing import Final

from walkthrough.drawing.style import KEY, OUTPUT, QUERY, VALUE, WEIGHT

__all__ = ["HATCH", "KEY", "OUTPUT", "QUERY", "SHUT", "VALUE", "VECTOR", "WEIGHT", "style"]

VECTOR: Final = "#7d8b99"  # a word's own numbers, before anybody asks
SHUT: Final = "#8b959f"  # what may not be seen
# A drawn tile: Firefox shows stripes in `color-mix` as a few broken lines, on paper none.
HATCH: Final = (
    "url(\"data:image/svg+xml,%3Csvg xmlns='http%3A//www.w3.org/2000/svg' width='7' height='7'%3E"
    f"%3Cpath d='M-1 6l2 2M0 0l7 7M6-1l2 2' stroke='%23{SHUT[1:]}' stroke-width='1.5'/%3E"
    '%3C/svg%3E")'
)


_CSS = """
figure.scene{container-type:inline-size;margin:.6rem 0;padding:0;text-align:left;line-height:1.3;
font-family:var(--book-sans,var(--pst-font-family-heading,system-ui,sans-serif))}
.scene-in{font-size:12.5px;-webkit-print-color-adjust:exact;print-color-adjust:exact}
@media(forced-colors:active){.scene-in{forced-color-adjust:none;color:CanvasText;
--pst-color-background:Canvas}}
@container(min-width:460px){.scene-in{font-size:15px}}
@container(min-width:620px){.scene-in{font-size:17px}}
.scene .pick{border:0;margin:0 0 1.1em;padding:0;min-width:0}
.scene :is(legend,.ask){float:none;width:auto;font-size:1em;font-weight:600;margin:0 0 .5em;
padding:0}
.scene .buttons{display:flex;flex-wrap:wrap;gap:.4em}
.scene label{position:relative;margin:0;cursor:pointer}
.scene label input{position:absolute;inset:0;width:100%;height:100%;margin:0;opacity:0;
cursor:pointer}
.scene label span{display:block;padding:.38em .85em;border-radius:1.4em;
border:1.5px solid color-mix(in srgb,currentColor 32%,transparent)}
.scene label:hover span{border-color:currentColor}
.scene label input:checked+span{background:color-mix(in srgb,currentColor 14%,transparent);
border-color:currentColor;font-weight:650}
.scene label input:focus-visible+span{outline:3px solid #2f8fc7;outline-offset:2px}
.scene [type=range]{display:block;width:100%;height:2em;margin:0 0 .4em;accent-color:#2f8fc7}
.scene svg{display:block;overflow:visible}
.scene .stretch{width:100%;height:100%}
.scene path{fill:none;vector-effect:non-scaling-stroke;stroke-linecap:round}
.scene .strip{display:block;height:1.5em;border-radius:3px;background-size:100% 100%;
image-rendering:pixelated;
box-shadow:inset 0 0 0 1px color-mix(in srgb,currentColor 16%,transparent)}
.scene .dim{opacity:.78}
.scene .num{font-variant-numeric:tabular-nums}
.scene .says{min-height:2.7em;margin-top:1em;font-size:1.02em}
.scene .says p{margin:0}
.scene figcaption{margin:.9rem 0 0;font-size:.92rem;font-weight:400;text-align:left;color:inherit;
padding-top:.5rem;border-top:1px solid color-mix(in srgb,currentColor 18%,transparent)}
.scene .at{display:none}
@supports not selector(:has(*)){.scene .first{display:revert}}
.scene .glides{transition:all .55s cubic-bezier(.3,.7,.2,1)}
@media(prefers-reduced-motion:reduce){.scene *{transition:none!important;animation:none!important}}
"""

_FRAME = """
.scene:has([type=radio][value="@"]:checked) .at-@{display:revert}
.scene:has([type=radio][value="@"]:checked) .glides{--a:var(--a@);--b:var(--b@)}
.scene:has([type=radio][value="@"]:checked) .on-@{opacity:1}
"""


@cache
def style(n_frames: int) -> str:
    """Return the style sheet of every scene with so many frames."""
    frames = "".join(_FRAME.replace("@", str(n)) for n in range(n_frames))
    return (_CSS + frames).replace("\n", "")
