"""What `check` found, as text, as HTML in a notebook, and as JSON."""

import json
from dataclasses import dataclass, field
from html import escape
from math import isfinite
from typing import Any

from torch import nn

from walkthrough.capstone import book
from walkthrough.capstone.stubs import HELPERS, PARTS, STUBS, Stub
from walkthrough.capstone.walk import Walk
from walkthrough.capstone.weights import TEMPLATE, Placing
from walkthrough.checking import Verdict
from walkthrough.doctor import Report
from walkthrough.doctor.calling import Subject
from walkthrough.doctor.report import SITE, TITLES

SIGNS = {"right": "✓", "wrong": "✗", "nothing yet": "·", "cannot tell": "?"}


@dataclass(frozen=True)
class Part:
    """A function or a class of the file, and its verdict.

    `without` are parts in whose place right ones were put, `unwritten` the functions in it that
    raise `NotImplementedError` still; `begun` says that others do not.
    """

    name: str
    verdict: Verdict
    without: tuple[str, ...] = ()
    unwritten: tuple[str, ...] = ()
    begun: bool = False

    @property
    def status(self) -> str:
        """The verdict's status, or "cannot tell" where the weights' places are not known."""
        return "cannot tell" if self.verdict.mistake == "placing" else self.verdict.status


@dataclass
class Result:
    """What `check` found; text, HTML in a notebook, and JSON."""

    file: str
    parts: dict[str, Part] = field(default_factory=dict)
    model: nn.Module | None = field(default=None, repr=False)
    subject: Subject | None = field(default=None, repr=False)
    placing: Placing | None = field(default=None, repr=False)
    translation: str = ""
    walk: Walk | None = None
    doctor: Report | None = None
    said: list[str] = field(default_factory=list)

    def status(self, stub: Stub) -> str:
        """Return "right", "wrong", "cannot tell" or "nothing yet"."""
        all_of = [self.parts[name] for name in stub.parts]
        for status in ("wrong", "cannot tell"):
            if any(part.status == status for part in all_of):
                return status
        needed = [part for part in all_of if part.name not in HELPERS]
        if needed and all(part.verdict for part in needed):
            return "right"
        return "right" if all(part.verdict for part in all_of) else "nothing yet"

    @property
    def next(self) -> Stub | None:
        """The first stub that is not right."""
        return next((stub for stub in STUBS if self.status(stub) != "right"), None)

    @property
    def wrong(self) -> bool:
        """Whether something is wrong: a stub, a block, or a bug that the doctor sees."""
        return (
            any(self.status(stub) == "wrong" for stub in STUBS)
            or (self.walk is not None and self.walk.sure and not self.walk.agrees)
            or bool(self.doctor and self.doctor.bugs)
        )

    def lines(self) -> list[tuple[str, str, str]]:
        """Return, for each stub, its status, its name, and what is said of it."""
        found = []
        for stub in STUBS:
            parts, status = [self.parts[name] for name in stub.parts], self.status(stub)
            said = [self._part_said(p) for p in parts if p.status in ("wrong", "cannot tell")]
            empty = [name for part in parts for name in part.unwritten]
            if status != "right" and empty and any(part.begun for part in parts):
                names = ", ".join(f"`{name}`" for name in empty)
                said.append(f"Not written yet: {names}.")
            found.append((status, f"{stub.number} {stub.name}", " ".join(said)))
        return found

    def _part_said(self, part: Part) -> str:
        said = part.verdict.message
        of_numbers = part.verdict.mistake is None and "stops with" not in said
        if part.name == PARTS[-1] and of_numbers and self.walk and self.walk.first:
            said = f"the first block that parts is {self.walk.first.name}; more of it below"
            if sum(one.status == "wrong" for one in self.parts.values()) > 1:
                said = (
                    "its numbers are not the book's, with right ones in place of the wrong stubs "
                    "too; mend those first"
                )
        named = said if f"`{part.name}`" in said else f"`{part.name}`: {said}"
        return named if named.endswith((".", "?", "!")) else f"{named}."

    def ending(self, *, everything: bool = False) -> list[str]:
        """Return what is said of the whole model, of the doctor's report, and what is next."""
        said = list(self.said)
        if self.translation:
            said.append(f"With the book's weights: {book.SENTENCE} → {self.translation}")
        if self.walk is not None:
            said.append(str(self.walk))
            if not self.walk.sure:
                said.append(mapping_to_fill_in())
        if self.doctor is not None:
            said += ["", str(self.doctor), ""] if everything else self._examined(self.doctor)
        left = [stub.name for stub in STUBS if self.status(stub) == "nothing yet"]
        if left and self.walk is not None and self.walk.agrees:
            said.append(f"Not found by the skeleton's names, and not needed: {', '.join(left)}.")
        elif self.next is not None:
            stub = self.next
            status = self.status(stub)
            begun = "" if status == "nothing yet" else f" ({status})"
            said.append(f"Next: {stub.number} {stub.name}{begun}, {SITE}book/{stub.page}")
        else:
            loop = "All ten are right. Next: your loop, `train`, and what it learns."
            said.append("Next: what is said above." if self.wrong else loop)
        return said

    def _examined(self, doctor: Report) -> list[str]:
        """Return the doctor's bugs, its departures where no stub is wrong, and how many lines."""
        wrong = any(self.status(stub) == "wrong" for stub in STUBS)
        told = [*doctor.bugs, *([] if wrong else doctor.departures)]
        counts = (f"{title.lower()} {len(getattr(doctor, to))}" for to, title in TITLES.items())
        return [
            *(f"{one.name} (§{one.section}): {one.sentence} {one.link}" for one in told),
            f"The doctor, on the model as a whole: {', '.join(counts)}. "
            "All of it: `check --all`, in Python `.doctor`.",
        ]

    def __str__(self) -> str:
        return self.text()

    def text(self, *, everything: bool = False) -> str:
        """Return what a terminal shows; `everything` has the doctor's whole report in it."""
        rows = [
            f"{SIGNS[status]} {name}" + (f"\n    {said}" if said else "")
            for status, name, said in self.lines()
        ]
        return "\n".join([self.file, *rows, "", *self.ending(everything=everything)])

    def _repr_html_(self) -> str:
        parts = []
        for status, name, said in self.lines():
            is_wrong = status == "wrong"
            shown = Verdict("wrong", said)._repr_html_() if is_wrong else f"<p>{escape(said)}</p>"
            parts.append(f"<div>{SIGNS[status]} {escape(name)}</div>{shown if said else ''}")
        parts += [f'<p style="white-space:pre-wrap">{escape(said)}</p>' for said in self.ending()]
        return f'<figure class="capstone" style="margin:0">{"".join(parts)}</figure>'

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "file": self.file,
            "wrong": self.wrong,
            "stubs": [
                {"number": stub.number, "name": stub.name, "section": stub.section,
                 "page": f"{SITE}book/{stub.page}", "status": status, "said": said}
                for stub, (status, _, said) in zip(STUBS, self.lines(), strict=True)
            ],
            "next": None if self.next is None else self.next.number,
            "translation": self.translation,
            "walk": None if self.walk is None else {
                "placed": self.walk.placed, "sure": self.walk.sure, "agrees": self.walk.agrees,
                "first": self.walk.first and self.walk.first.name,
                "difference": self.walk.first and _finite(self.walk.first.difference),
                "cause": self.walk.cause,
                "blocks": [
                    {"name": one.name, "difference": _finite(one.difference), "agrees": one.agrees}
                    for one in self.walk.blocks
                ],
            },
            "said": self.said,
            "doctor": self.doctor and json.loads(self.doctor.to_json()),
        }  # fmt: skip


def _finite(number: float | None) -> float | None:
    return None if number is None or not isfinite(number) else number


def mapping_to_fill_in() -> str:
    """Return the lines in which a reader says how the parts of a parameter's name are called."""
    rows = "".join(f'    "{name}": "{own}",\n' for name, own in TEMPLATE.items())
    return f"Write into your file, with your own names on the right:\n\nWEIGHTS = {{\n{rows}}}"
