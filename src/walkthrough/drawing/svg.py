"""What the drawn figures share: a drawing that shows itself, its words and its arrows."""

import html
from dataclasses import dataclass

FONT_SIZE = 12.6
"""In units of a drawing, whose width is chosen so that these are 12 px or more on a phone."""


@dataclass(frozen=True)
class Drawing:
    """An SVG drawing that takes its colours from the page, so it works in light and dark."""

    svg: str
    title: str

    def __repr__(self) -> str:
        return f"Drawing: {self.title}"

    def _repr_html_(self) -> str:
        return self.svg


def drawing(
    body: str,
    *,
    kind: str,
    label: str,
    size: tuple[int, int],
    width: int,
    title: str,
    description: str,
    role: str = "img",
) -> Drawing:
    """Return `body` as a drawing at most `width` px wide; its ids begin with `label`."""
    svg = (
        f'<svg class="{kind}" xmlns="http://www.w3.org/2000/svg" role="{role}" '
        f'aria-labelledby="{label}-t {label}-d" viewBox="0 0 {size[0]} {size[1]}" '
        f'style="width:100%;max-width:{width}px;height:auto;display:block" fill="none" '
        f'stroke="currentColor" font-family="inherit" font-size="{FONT_SIZE}">'
        f'<title id="{label}-t">{html.escape(title)}</title>'
        f'<desc id="{label}-d">{html.escape(description)}</desc>'
        f'<defs><marker id="{label}-tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" '
        'markerHeight="6" orient="auto"><path d="M0 0L8 4L0 8z" fill="currentColor" '
        f'stroke="none"/></marker></defs>{body}</svg>'
    )
    return Drawing(svg, title)


def arrow(path: str, label: str, width: float = 1.2) -> str:
    """Return a path that ends in the arrow head of the drawing called `label`."""
    return f'<path d="{path}" stroke-width="{width:g}" marker-end="url(#{label}-tip)"/>'


def box_at(
    left: float | int,
    top: float | int,
    width: float | int,
    height: float | int,
    colour: str,
    *,
    dashed: bool = False,
) -> str:
    """Return a box with round corners, tinted and framed in one colour."""
    dashes = ' stroke-dasharray="4 3"' if dashed else ""
    return (
        f'<rect x="{left:g}" y="{top:g}" width="{width:g}" height="{height:g}" rx="5" '
        f'fill="{colour}" fill-opacity="0.16" stroke="{colour}" stroke-width="1.5"{dashes}/>'
    )


def words_at(
    x: float | int,
    y: float | int,
    words: str,
    anchor: str = "middle",
    ink: str = "currentColor",
) -> str:
    """Return one line of words."""
    return (
        f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" stroke="none" fill="{ink}">'
        f"{html.escape(words)}</text>"
    )
