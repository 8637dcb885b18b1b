"""What a check answers."""

import html
import re
from dataclasses import dataclass
from typing import Literal

from walkthrough.page.source import dark_and_light_css

Status = Literal["nothing yet", "right", "wrong"]

# Background, text and edge of each kind of verdict.
COLOURS = {
    "none": (("#eef1f4", "#3d4650", "#6b7680"), ("#232a32", "#c6ced6", "#8b96a1")),
    "right": (("#e2f3ec", "#0b4a36", "#009e73"), ("#10322a", "#b7ead8", "#009e73")),
    "wrong": (("#fdeee3", "#6d2f00", "#d55e00"), ("#3a2314", "#ffd2b0", "#e5762b")),
}
_SIGN = {"nothing yet": "nothing yet –", "right": "✓", "wrong": "✗"}
_STYLE = (
    "".join(
        dark_and_light_css(
            f".verdict-{kind}",
            *(dict(zip(("v-bg", "v-fg", "v-edge"), inks, strict=True)) for inks in both),
        )
        for kind, both in COLOURS.items()
    )
    + ".verdict{margin:.5em 0;padding:.6em .9em;border-left:4px solid var(--v-edge);"
    "border-radius:4px;background:var(--v-bg);color:var(--v-fg);overflow-wrap:anywhere}"
    ".verdict code{color:inherit;background:none;border:0;padding:0}"
)


@dataclass(frozen=True)
class Verdict:
    """A check's answer: `status` is "nothing yet", "right" or "wrong"; true only when right.

    `where` is the heading of the page under which the mistake is shown.
    """

    status: Status
    message: str
    mistake: str | None = None
    where: str = ""

    def __bool__(self) -> bool:
        return self.status == "right"

    def __repr__(self) -> str:
        shown = f" This page shows it under “{self.where}”." if self.where else ""
        return f"{_SIGN[self.status]} {self.message}{shown}"

    def _repr_html_(self) -> str:
        words = re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(str(self)))
        if self.where:  # the anchor that JupyterLab gives a heading
            title, place = (
                html.escape(text) for text in (self.where, self.where.replace(" ", "-"))
            )
            words = words.replace(f"“{title}”", f'“<a href="#{place}">{title}</a>”')
        kind = "none" if self.status == "nothing yet" else self.status
        return (
            f'<style>{_STYLE}</style><div class="verdict verdict-{kind}" role="status">'
            f"{words}</div>"
        )
