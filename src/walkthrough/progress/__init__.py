"""Which exercises are right: read from the verdicts that notebooks have stored."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Answer", "Progress", "answers", "progress"]

EXERCISE = re.compile(r"^[:`]{3,}\{exercise\} *(.+)$|^\*\*Exercise: (.+)\*\*$", re.MULTILINE)
SOLUTION = re.compile(r"\{solution\}|<summary>Solution</summary>")
VERDICT = re.compile(r"(nothing yet) –|(✓)|(✗)")
STATUS = ("nothing yet", "right", "wrong")
NOT_RUN = "not run"


@dataclass(frozen=True)
class Answer:
    """An exercise of a notebook, and what its check said last: `status` is the verdict's."""

    notebook: str
    exercise: str
    status: str


@dataclass(frozen=True)
class Progress:
    """What `progress()` shows: a line for each notebook."""

    answers: tuple[Answer, ...]

    def __repr__(self) -> str:
        lines = []
        for notebook in dict.fromkeys(answer.notebook for answer in self.answers):
            own = [answer for answer in self.answers if answer.notebook == notebook]
            left = [f"{one.exercise} ({one.status})" for one in own if one.status != "right"]
            line = f"{notebook}: {len(own) - len(left)} of {len(own)} right"
            lines.append(line + (f"; left: {', '.join(left)}" if left else ""))
        return "\n".join(lines) or "no notebook with exercises here"


def progress(folder: str | Path = ".") -> Progress:
    """Return which checks have passed in the notebooks of a folder, as they were last saved."""
    found = (answers(path) for path in sorted(Path(folder).glob("*.ipynb")))
    return Progress(tuple(answer for own in found for answer in own))


def answers(path: Path) -> list[Answer]:
    """Return the exercises of a notebook in order, each with its check's last verdict.

    Raises:
        ValueError: the file is no notebook.
    """
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is no notebook: {error}") from error
    found: list[Answer] = []
    inside = False
    for cell in cells:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            if title := EXERCISE.search(source):
                found.append(Answer(path.stem, title[1] or title[2], NOT_RUN))
            inside = bool(title) or (inside and not SOLUTION.search(source))
        elif inside:
            for status in filter(None, map(_status, cell.get("outputs", []))):
                found[-1] = Answer(path.stem, found[-1].exercise, status)
    return found


def _status(output: dict[str, Any]) -> str | None:
    said = VERDICT.match("".join(output.get("data", {}).get("text/plain", "")))
    return STATUS[(said.lastindex or 1) - 1] if said else None
