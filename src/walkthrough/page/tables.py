"""Tables of numbers show what is large: a data frame of one scale is tinted by value.

Importing `walkthrough` in a notebook switches this on. Words stay as pandas prints them, so what a
cell stores and compares does not change.
"""

import re
import sys
from typing import Any

ONE_SCALE = 12  # times: columns whose largest values differ by more are different things
_CELL = re.compile(r"<td>(-?[\d.]+(?:e[+-]\d+)?)</td>")


def tinted(frame: Any) -> str:
    """Return a data frame as HTML; numbers of one scale get a ground, and zeros become dots."""
    html = str(frame._repr_html_())
    largest = [float(column.abs().max()) for _, column in _numbers(frame)]
    top, least = max(largest, default=0), min(filter(None, largest), default=0)
    if len(largest) < max(2, frame.shape[1]) or not top or top > ONE_SCALE * least:
        return html

    def cell(found: re.Match[str]) -> str:
        value = float(found[1])
        words = found[1].replace("-", "−") if value else "·"
        return f'<td style="background:{_ground(value / top)}">{words}</td>'

    return _CELL.sub(cell, html.replace('class="dataframe"', 'class="dataframe tinted"'))


def _numbers(frame: Any) -> list[tuple[Any, Any]]:
    return [(name, column) for name, column in frame.items() if column.dtype.kind == "f"]


def _ground(share: float) -> str:
    from walkthrough.drawing.style import PALETTE, UNDER_WORDS, tint  # Altair takes a second

    colour = PALETTE["blue" if share >= 0 else "vermilion"]
    return tint(colour, UNDER_WORDS * abs(share))


def register() -> None:
    """Let notebooks show data frames so, where one is running."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is not None:
        html = shell.display_formatter.formatters["text/html"]
        html.for_type_by_name("pandas.core.frame", "DataFrame", tinted)
