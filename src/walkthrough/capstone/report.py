"""What `check` found, as text, as HTML in a notebook, and as JSON."""

import json
from dataclasses import dataclass, field
from html import escape
from typing import Any

from torch import nn

from walkthrough.capstone import book
from walkthrough.capstone.stubs import HELPERS, PARTS, STUBS, Stub
from walkthrough.capstone.walk import Walk
from walkthrough.capstone.weights import Placing, mapping_to_fill_in
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
        statuses = {name: self.parts[name].status for name in stub.parts}
        needed = [status for name, status in statuses.items() if name not in HELPERS]
        for status in ("wrong", "cannot tell"):
            if status in statuses.values():
                return status
        return "right" if {*(needed or statuses.values())} == {"right"} else "nothing yet"

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
            said = [self._part_said(p) for p in parts if p.verdict.mistake or p.status == "wrong"]
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
            said += [str(self.walk), *([] if self.walk.sure else [mapping_to_fill_in()])]
        if self.doctor is not None:
            said += ["", str(self.doctor), ""] if everything else self._examined(self.doctor)
        return [*said, self._next_said()]

    def _next_said(self) -> str:
        left = [stub.name for stub in STUBS if self.status(stub) == "nothing yet"]
        if left and self.walk is not None and self.walk.agrees:
            return f"Not found by the skeleton's names, and not needed: {', '.join(left)}."
        if (stub := self.next) is not None:
            begun = "" if self.status(stub) == "nothing yet" else f" ({self.status(stub)})"
            return f"Next: {stub.number} {stub.name}{begun}, {SITE}book/{stub.page}"
        if self.wrong:
            return "Next: what is said above."
        return "All ten are right. Next: your loop, `train`, and what it learns."

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
        lines = zip(STUBS, self.lines(), strict=True)
        return {
            "file": self.file,
            "wrong": self.wrong,
            "stubs": [
                {"number": stub.number, "name": stub.name, "section": stub.section,
                 "page": f"{SITE}book/{stub.page}", "status": status, "said": said}
                for stub, (status, _, said) in lines
            ],
            "next": self.next and self.next.number,
            "translation": self.translation,
            "walk": self.walk and self.walk.to_dict(),
            "said": self.said,
            "doctor": self.doctor and json.loads(self.doctor.to_json()),
        }  # fmt: skip
