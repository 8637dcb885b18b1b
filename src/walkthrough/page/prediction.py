"""A question to answer before an experiment, without a kernel: every choice answers for itself.

The choices are `<details>`, which every browser opens by click and keyboard. On the site
`predictions.js` remembers, in the reader's own browser, which choice was opened first.
"""

import html
import re
from dataclasses import dataclass, replace
from typing import Any

from walkthrough.page.source import dark_and_light_css

_NAMES = ("p-edge", "p-bg", "p-fg", "p-right", "p-wrong")
_LIGHT = dict(zip(_NAMES, ("#c4ccd4", "#f6f8fa", "#24292f", "#0b6e4f", "#a04000"), strict=True))
_DARK = dict(zip(_NAMES, ("#3d4650", "#161b22", "#e6edf3", "#6fd6b0", "#ffb07a"), strict=True))
_LETTERS = "abcd"


@dataclass(frozen=True)
class Choice:
    """One answer, and the sentence that answers it.

    Where a record decides, `when` says what makes it right: a verdict, a tuple of them, or a
    function of all that is `given`.
    """

    text: str
    reply: str
    right: bool = False
    when: Any = ()

    def holds(self, given: tuple[Any, ...]) -> bool:
        """Whether what is given makes it right."""
        if callable(self.when):
            return bool(self.when(*given))
        wanted = self.when if isinstance(self.when, tuple) else (self.when,)
        return all(getattr(one, "verdict", one) in wanted for one in given)


@dataclass(frozen=True)
class Prediction:
    """A question with three or four choices, one of them right; shown, it can be answered.

    `name` is its own in the whole book and begins with the chapter's number: "02-axis". `given`
    is what runs have shown, comparisons of the laboratory or what else a record tells: then the
    right choice is the one whose `when` fits, and nobody types it.

    Raises:
        ValueError: a name of another form, other than 3 or 4 choices, none or several right ones,
            one that is typed beside what is given, two alike, or a reply that is no sentence.
    """

    name: str
    question: str
    choices: tuple[Choice, ...]
    given: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        """Let what is given say which choice is right, and check it all."""
        if any(choice.right if self.given else choice.when for choice in self.choices):
            raise ValueError(f"{self.name}: `right` is typed, or `when` asks what is `given`")
        if self.given:
            told = (replace(choice, right=choice.holds(self.given)) for choice in self.choices)
            object.__setattr__(self, "choices", tuple(told))
        if not re.fullmatch(r"\d\d(-[a-z0-9]+)+", self.name):
            raise ValueError(f'name must look like "02-axis", got "{self.name}"')
        if not 3 <= len(self.choices) <= 4:
            raise ValueError(f"{self.name}: 3 or 4 choices, got {len(self.choices)}")
        right = [choice.text for choice in self.choices if choice.right]
        if len(right) != 1:
            raise ValueError(f"{self.name}: exactly one choice is right, got {right}")
        for part in ("text", "reply"):
            texts = [getattr(choice, part) for choice in self.choices]
            if len(set(texts)) < len(texts):
                raise ValueError(f"{self.name}: two choices have the same {part}")
        for reply in (choice.reply for choice in self.choices):
            if not reply.endswith((".", "?", "!")):
                raise ValueError(f"{self.name}: a reply is a sentence, got {reply!r}")
        if not self.question.endswith("?"):
            raise ValueError(f"{self.name}: a question ends with ?, got {self.question!r}")

    def __repr__(self) -> str:
        lines = [f"Predict: {_plain(self.question)}"]
        for letter, choice in zip(_LETTERS, self.choices, strict=False):
            lines.append(f"  {letter}) {_plain(choice.text)}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        name = f"prediction-{self.name}"
        choices = "".join(
            f'<details class="{"right" if choice.right else "wrong"}">'
            f"<summary>{_marked(choice.text)}</summary>"
            f"<p><b>{'Right.' if choice.right else 'Not so.'}</b> {_marked(choice.reply)}</p>"
            "</details>"
            for choice in self.choices
        )
        return (
            f'<style>{_style()}</style><div class="prediction" data-prediction="{self.name}" '
            f'role="group" aria-labelledby="{name}">'
            f'<p id="{name}"><b>Predict.</b> {_marked(self.question)}</p>{choices}</div>'
        )


def _plain(text: str) -> str:
    return re.sub(r"[*`]", "", text)


def _marked(text: str) -> str:
    """Return HTML: `*so*` is emphasised, what stands between backticks is code."""
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text, quote=False))
    return re.sub(r"\*([^*]+)\*", r"<em>\1</em>", text)


def _style() -> str:
    return (
        dark_and_light_css(".prediction", _LIGHT, _DARK)
        + ".prediction{margin:.5em 0;padding:.7em 1em;border:1px solid var(--p-edge);"
        "border-radius:8px;background:var(--p-bg);color:var(--p-fg)}"
        ".prediction>p{margin:0 0 .5em}"
        ".prediction details{margin:.3em 0;padding:0;border:1px solid var(--p-edge);"
        "border-radius:6px}"
        ".prediction summary{padding:.45em .8em;cursor:pointer}"
        ".prediction details p{margin:0;padding:0 .8em .6em 1.9em}"
        ".prediction .right p b{color:var(--p-right)}.prediction .wrong p b{color:var(--p-wrong)}"
        ".prediction .first{margin-left:.6em;font-size:.85em;opacity:.8}"
    )
