"""How the book's figures look: palette, sizes, Altair theme, alt text. Everything in one place.

Text, axes and background keep Vega-Lite's defaults here, so that the page can turn them over in
dark mode; marks use colours that hold against a white and against a dark page.
"""

import re
from collections.abc import Sequence
from typing import Any, Final, TypeVar

import altair as alt
import numpy as np
import torch
from torch import Tensor

# Okabe and Ito's colour-blind-safe hues; orange, sky blue and purple darkened until each has a
# contrast of 3 or more against a white page and against a dark one.
PALETTE = {
    "blue": "#0072b2",
    "vermilion": "#d55e00",
    "green": "#009e73",
    "purple": "#a03c90",
    "ochre": "#a87a00",
    "sky": "#2f8fc7",
    "grey": "#767676",
}
CATEGORIES = list(PALETTE.values())
# One colour for one thing, everywhere. `book.css` has the same hues with more contrast, for words.
ROLES = {
    "query": PALETTE["vermilion"],
    "key": PALETTE["green"],
    "value": PALETTE["purple"],
    "weight": PALETTE["blue"],
    "output": PALETTE["ochre"],
}
QUERY, KEY, VALUE, WEIGHT, OUTPUT = ROLES.values()
UNDER_WORDS = 0.62  # how strong a tint may be for the page's ink to be read on it, light and dark
FONT = "'Source Sans 3', system-ui, sans-serif"  # unquoted, no canvas takes a name with a digit
WEIGHT_SCHEME: Final = "viridis"  # for values from 0 to 1
SIGNED_SCHEME: Final = "blueorange"  # for values around 0
NOT_ALLOWED, ON_NOT_ALLOWED = "#9a9a9a", "#2b2b2b"  # cells a mask closes, and their cross
DASHES: list[list[int]] = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 4], [1, 3], [10, 4]]

NARROW = 240  # px for the plotting area of a chart of fixed width: fits a 375 px phone with labels
MAX_STEP, MIN_STEP = 34, 14
PHONE, LETTER = 310, 6.5  # px beside a map's axis title on a phone; mean width of a letter
DECIMALS = 3

AnyChart = TypeVar("AnyChart", bound=alt.TopLevelMixin)


@alt.theme.register("walkthrough", enable=True)
def theme() -> alt.theme.ThemeConfig:
    """Return the book's Altair configuration."""
    return {
        "config": {
            "font": FONT,
            "view": {"continuousWidth": NARROW, "continuousHeight": 200},
            "title": {
                "anchor": "start",
                "fontSize": 13,
                "fontWeight": 600,
                "subtitleFontSize": 12,
                "offset": 8,
            },
            "axis": {"labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": 500},
            "axisX": {"labelAngle": 0},
            "legend": {
                "orient": "bottom",
                "labelFontSize": 12,
                "titleFontSize": 12,
                "columns": 2,
                "labelLimit": 240,
            },
            "range": {"category": CATEGORIES},
            "line": {"strokeWidth": 2},
        }
    }


def described(chart: AnyChart, text: str) -> AnyChart:
    """Return the chart with its alt text: what it shows, for someone who does not see it.

    Raises:
        ValueError: the text is empty.
    """
    if not text.strip():
        raise ValueError("alt text must say what the chart shows; got an empty string")
    words = " ".join(text.split()).replace("?. ", "? ")  # a title may be a question
    return chart.properties(description=words)


def wrapped(title: str, width: int = 46) -> list[str]:
    """Return a title as lines short enough for a phone: Vega does not break titles itself."""
    lines = [""]
    for word in re.split(r"(?<!\d)\s+|\s+(?!\d{3}\b)", title.strip()):  # 4 000 is one word
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def step(n_cells: int, labels: Sequence[str] = ()) -> int:
    """Return the side of a cell in px: `n_cells` and the row labels together fit a phone."""
    longest = max(map(len, labels), default=0)
    width = min(NARROW, PHONE - LETTER * longest)
    return max(MIN_STEP, min(MAX_STEP, int(width) // max(n_cells, 1)))


def rounded(values: Tensor | np.ndarray | Sequence[Any], decimals: int = DECIMALS) -> Any:
    """Return nested lists of numbers with few decimals, small enough to travel inside a page.

    Raises:
        ValueError: a value is NaN or infinite: JSON cannot hold it and a chart would drop it.
    """
    array = torch.as_tensor(values).detach().cpu().double().numpy()
    if not np.isfinite(array).all():
        raise ValueError("a figure needs finite values; got NaN or infinity")
    return (array.round(decimals) + 0.0).tolist()  # + 0.0 turns -0.0 into 0.0


def token_labels(tokens: Sequence[str]) -> list[str]:
    """Return one label a position that is unique, so that a repeated word keeps its own row.

    The second "the" gets an invisible mark: Vega-Lite would otherwise merge equal labels.
    """
    seen: dict[str, int] = {}
    labels = []
    for token in tokens:
        seen[token] = seen.get(token, -1) + 1
        labels.append(token + "\u200b" * seen[token])
    return labels


def ink(role: str) -> str:
    """Return the colour of a role for words in a drawing: the page's own where there is one."""
    return f"var(--{role}, {ROLES[role]})"


def tint(colour: str, strength: int | float) -> str:
    """Return a colour written as #rrggbb at a strength from 0 to 1, over the page's ground."""
    return f"rgba({', '.join(str(int(colour[i : i + 2], 16)) for i in (1, 3, 5))}, {strength:.2f})"


def kilobytes(chart: alt.TopLevelMixin) -> float:
    """Return the size of the chart's specification, data included, in kB."""
    return len(chart.to_json(indent=None).encode()) / 1000


def contrast(one: str, other: str) -> float:
    """Return the WCAG contrast ratio of two colours written as #rrggbb."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    channels = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])
