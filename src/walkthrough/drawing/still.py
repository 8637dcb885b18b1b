"""Still pictures: what matplotlib and seaborn draw, as SVG in the page's own ink.

    with canvas(420, 300) as (figure, axes):
        seaborn.heatmap(values, ax=axes, cmap=WEIGHT_SCHEME)
    return still(figure, alt="what the picture shows")

Black becomes the colour of the page's text and white that of its ground, so a picture follows light
and dark. Other colours stay (`style.PALETTE` holds against both), and so do words in a colour of
their own, as seaborn writes them on cells. Words are text, in the page's font. A picture wider than
a phone is drawn once more, narrow, and each screen shows the one that fits. A dense matrix
belongs into `imshow`, or into a mesh with `rasterized=True`: a shape for each of ten thousand cells
makes megabytes.
"""

import hashlib
import html
import io
import logging
import re
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import combinations
from typing import Any

# A first import looks through the fonts and says so, on a page where nobody asked.
logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)

import matplotlib  # noqa: E402
from cycler import cycler  # noqa: E402
from matplotlib.colors import LinearSegmentedColormap  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from matplotlib.text import Text  # noqa: E402

from walkthrough.drawing.style import CATEGORIES, SIGNED_SCHEME, WEIGHT_SCHEME  # noqa: E402

__all__ = [
    "FONT_SIZE",
    "PHONE",
    "SIGNED_COLOURS",
    "WEIGHT_SCHEME",
    "Still",
    "canvas",
    "page_style",
    "still",
]

_SIGNED = "134b85 2f78b3 5da2cb 9dcae1 d2e5ef f2f0eb fce0ba fbbf74 e8932f c5690d 994a07"
SIGNED_COLOURS = LinearSegmentedColormap.from_list(
    SIGNED_SCHEME, [f"#{colour}" for colour in _SIGNED.split()]
)
"""The colours that Vega has for `style.SIGNED_SCHEME`; matplotlib has no scheme of that name."""

FONT_SIZE = 12
PHONE = 343
"""The px that a phone of 375 px has for a picture."""
_LETTER = 8.5  # px of a title's letters, one with another
SMALLEST, LARGEST = 1.0, 1.5
"""How far a picture shrinks before it scrolls, and how far it grows, times its own width."""
INK, GROUND = "currentColor", "var(--pst-color-background, Canvas)"
_BLACK = "#000000|#333333|#404040"  # black, and what seaborn takes for it
_PAINT = {"#262626": INK, "#ffffff": GROUND}  # of shapes; in words they are chosen for the cell
_STYLE: Any = {
    "svg.fonttype": "none",
    "figure.dpi": 72,  # a point is a px
    "savefig.transparent": True,
    "font.size": FONT_SIZE,
    "axes.titlesize": FONT_SIZE + 2,
    "axes.titleweight": "semibold",
    "axes.titlelocation": "left",
    "axes.labelsize": FONT_SIZE,
    "xtick.labelsize": FONT_SIZE,
    "ytick.labelsize": FONT_SIZE,
    "legend.fontsize": FONT_SIZE,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.prop_cycle": cycler(color=CATEGORIES),
    "grid.color": "black",
    "grid.alpha": 0.14,
    "axes.axisbelow": True,
}


_ONE_OF_TWO = (
    ".still-narrow{display:none!important}@media screen and (max-width:600px){"
    ".still-narrow{display:block!important}.still-wide{display:none!important}}"
)


@dataclass(frozen=True)
class Still:
    """A picture that shows itself as SVG; where it cannot, `alt` says what it shows."""

    svg: str
    alt: str
    narrow: str = ""

    def __repr__(self) -> str:
        return f"Picture: {self.alt}"

    def _repr_html_(self) -> str:
        if not self.narrow:
            return self.svg
        head, rest = self.svg.split(">", 1)
        return f"{head}><style>{_ONE_OF_TWO}</style>{rest}{self.narrow}"


@contextmanager
def page_style() -> Iterator[None]:
    """Draw in the book's style, for functions that make a figure themselves (`clustermap`)."""
    with matplotlib.rc_context(_STYLE):
        yield


@contextmanager
def canvas(width: int, height: int, **subplots: Any) -> Iterator[tuple[Figure, Any]]:
    """Give a figure of so many px and its axes, to draw on inside the `with` block.

    420 px or less fit a phone. `subplots` go to `Figure.subplots`: nrows, ncols, width_ratios.
    """
    with page_style():
        figure = Figure(figsize=(width / 72, height / 72), layout="constrained")
        yield figure, figure.subplots(**subplots)


def still(figure: Figure, *, alt: str, narrow: Figure | None = None) -> Still:
    """Return a figure of matplotlib's as a picture for the page.

    `narrow` is the same for a phone, `PHONE` px wide. Left out, the figure is laid out anew in that
    width. Where a word would be cut or lie on another, a phone scrolls the wide one.

    Raises:
        ValueError: no alt text, the words for someone who does not see the picture.
    """
    words = " ".join(alt.split())
    if not words:
        raise ValueError("alt text must say what the picture shows; got an empty string")
    label = "still-" + hashlib.sha256(words.encode()).hexdigest()[:8]
    drawn = _drawn(figure, words, label, "alone")
    pictures = [drawn]
    if narrow is not None or (figure.bbox.width > PHONE and _fits_a_phone(figure)):
        # a page's other picture may have one size only, and must not be hidden with this one
        pictures = [drawn.replace("still-alone", "still-wide", 1)]
        pictures.append(_drawn(narrow or figure, words, f"{label}-n", "narrow"))
    if "matplotlib.pyplot" in sys.modules:  # or a notebook shows it a second time
        sys.modules["matplotlib.pyplot"].close(figure)
    return Still(pictures[0], words, "".join(pictures[1:]))


def _fits_a_phone(figure: Figure) -> bool:
    """Make a figure narrow, and say whether all its words can be read then."""
    height = figure.bbox.height * max(1.0, min(1.4, figure.bbox.width / PHONE))
    with page_style():
        figure.set_size_inches(PHONE / 72, height / 72)
        figure.draw_without_rendering()
        for axes in figure.axes:
            room = int((figure.bbox.x1 - axes.bbox.x0) / _LETTER)
            axes.set_title(textwrap.fill(axes.get_title("left"), max(room, 12)), loc="left")
        figure.draw_without_rendering()
        unseen = set(_ticks_outside(figure))
        boxes = [
            text.get_window_extent()
            for text in figure.findobj(Text)
            if text.get_visible() and text.get_text().strip() and text not in unseen
        ]
    page = figure.bbox.padded(1)
    inside = all(page.x0 <= b.x0 and b.x1 <= page.x1 and page.y0 <= b.y0 for b in boxes)
    pairs = combinations([box.padded(-1) for box in boxes], 2)
    return inside and not any(one.overlaps(other) for one, other in pairs)


def _ticks_outside(figure: Figure) -> Iterator[Text]:
    """Labels that matplotlib keeps beyond the ends of an axis and does not draw."""
    for axis in (axis for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)):
        low, high = sorted(axis.get_view_interval())
        for tick in axis.get_major_ticks():
            if not low <= tick.get_loc() <= high:
                yield from (tick.label1, tick.label2)


def _drawn(figure: Figure, words: str, label: str, kind: str) -> str:
    with page_style(), matplotlib.rc_context({"svg.hashsalt": label}):
        file = io.StringIO()
        figure.savefig(
            file,
            format="svg",
            metadata={"Date": None, "Creator": None, "Format": None, "Type": None},
        )
    width, height = (72 * inches for inches in figure.get_size_inches())
    head = (
        f'<svg class="still still-{kind}" xmlns="http://www.w3.org/2000/svg" '
        f'xmlns:xlink="http://www.w3.org/1999/xlink" role="img" aria-label="{html.escape(words)}" '
        f'viewBox="0 0 {width:g} {height:g}" fill="{INK}" font-family="inherit" '
        f'style="display:block;width:100%;min-width:{SMALLEST * width:.0f}px;'
        f'max-width:{LARGEST * width:.0f}px;height:auto;break-inside:avoid">'
    )
    return head + _body(file.getvalue(), label) + "</svg>"


def _body(svg: str, label: str) -> str:
    """Return what stands inside matplotlib's <svg>, with the page's colours, font and short ids."""
    inside = svg[svg.index(">", svg.index("<svg")) + 1 : svg.rindex("</svg>")]
    inside = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", inside, flags=re.DOTALL)
    inside = re.sub(r"<[^>]+>", _on_the_page, inside)  # what stands between tags is the reader's
    return re.sub(r"\s*\n\s*", "\n", _ungrouped(_named_apart(inside, label)))


def _on_the_page(tag: re.Match[str]) -> str:
    """Give a tag the page's ink and font, and numbers of two places."""
    found = re.sub(_BLACK, INK, tag[0])
    if not found.startswith("<text"):
        found = re.sub("|".join(_PAINT), lambda colour: _PAINT[colour[0]], found)
    found = re.sub(r"font: ((?:[\w.]+ )*)([\d.]+px) [^;\"]*", _font, found)
    found = re.sub(r"; font-family: [^;\"]*| transform=\"rotate\(-0 [^\"]*\"", "", found)
    return re.sub(r"-?\d+\.\d{3,}", lambda number: f"{float(number[0]):.2f}", found)


def _font(found: re.Match[str]) -> str:
    """Say size and weight alone, so that the family is the page's."""
    weights = [word for word in found[1].split() if word.isdigit() or word == "bold"]
    return "; ".join([f"font-size: {found[2]}", *(f"font-weight: {w}" for w in weights)])


def _named_apart(svg: str, label: str) -> str:
    """Keep the ids that are used, each with the picture's label: other pictures have the same."""
    used = set(re.findall(r"(?:url\(|href=\")#([\w-]+)", svg))
    svg = re.sub(r' id="([\w.-]+)"', lambda i: f' id="{label}-{i[1]}"' * (i[1] in used), svg)
    return re.sub(r"(url\(|href=\")#([\w-]+)", rf"\1#{label}-\2", svg)


def _ungrouped(svg: str) -> str:
    """Leave out what nobody sees: grounds without paint, and groups that say nothing."""
    svg = re.sub(r'<path d="[^"]*" style="fill: none"/>\n?', "", svg)
    kept: list[bool] = []

    def tag(found: re.Match[str]) -> str:
        if found[0] != "</g>":
            kept.append(found[0] != "<g>")
            return found[0] * kept[-1]
        return found[0] * kept.pop()

    return re.sub(r"<g(?: [^>]*)?(?<!/)>|</g>", tag, svg)
