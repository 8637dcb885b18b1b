"""`check`: which stubs are written and right, what is next, and what the whole model does."""

import json
import sys
from dataclasses import dataclass, field
from html import escape
from math import isfinite
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch import nn

from transformer.config import EOS_ID
from walkthrough.capstone import book, judging, solution
from walkthrough.capstone.stubs import HELPERS, PARTS, STUBS, Stub
from walkthrough.capstone.walk import Walk, place, walk
from walkthrough.capstone.weights import TEMPLATE, CannotPlaceError, Placing
from walkthrough.checking import Verdict
from walkthrough.checking.running import NeverEnds, limited
from walkthrough.doctor import CannotCallError, Report, examine
from walkthrough.doctor.calling import Subject, find_call
from walkthrough.doctor.loading import NoModelError, definitions, sized
from walkthrough.doctor.report import SITE

USES = {
    "MultiHeadAttention": {"scaled_dot_product_attention", "split_heads", "merge_heads"},
    "ResidualNorm": {"layer_norm"},
}
USES["EncoderLayer"] = {"MultiHeadAttention", "FeedForward", "ResidualNorm"}.union(*USES.values())
USES["DecoderLayer"] = USES["EncoderLayer"]
USES["Transformer"] = {*PARTS} - {"Transformer"}
SIGNS = {"right": "✓", "wrong": "✗", "nothing yet": "·", "cannot tell": "?"}
SHARED = {"MultiHeadAttention", "FeedForward", "EncoderLayer", "DecoderLayer"}
"""Names that people use for theirs as well."""
NOTHING_YET = Verdict("nothing yet", "not written")


@dataclass(frozen=True)
class Part:
    """A function or a class of the file, and its verdict; `without` are parts put in its place."""

    name: str
    verdict: Verdict
    without: tuple[str, ...] = ()

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
            said = [
                self._part_said(self.parts[name])
                for name in stub.parts
                if self.parts[name].verdict.status != "nothing yet"
            ]
            found.append((self.status(stub), f"{stub.number} {stub.name}", " ".join(said)))
        return found

    def _part_said(self, part: Part) -> str:
        if part.without and part.verdict:
            names = ", ".join(f"`{name}`" for name in part.without)
            return f"`{part.name}` is right (tried with right ones in place of your {names})."
        said = part.verdict.message
        named = said if f"`{part.name}`" in said else f"`{part.name}`: {said}"
        return named if named.endswith((".", "?", "!")) else f"{named}."

    def ending(self) -> list[str]:
        """Return what is said of the whole model, and what is next."""
        said = list(self.said)
        if self.translation:
            said.append(f"With the book's weights: {book.SENTENCE} → {self.translation}")
        if self.walk is not None:
            said.append(str(self.walk))
            if not self.walk.sure:
                said.append(mapping_to_fill_in())
        if self.next is not None:
            stub = self.next
            status = self.status(stub)
            begun = "comes next" if status == "nothing yet" else f"is next: {status}"
            said.append(f"Stub {stub.number}, {stub.name}, {begun}: {SITE}book/{stub.page}")
        elif not self.wrong:
            said.append("All ten are right. Next: your loop, `train`, and what it learns.")
        return said

    def __str__(self) -> str:
        rows = [
            f"{SIGNS[status]} {name}" + (f"\n    {said}" if said and status != "right" else "")
            for status, name, said in self.lines()
        ]
        text = "\n".join([self.file, *rows, "", *self.ending()])
        return text if self.doctor is None else f"{text}\n\n{self.doctor}"

    def _repr_html_(self) -> str:
        parts = []
        for status, name, said in self.lines():
            shown = Verdict("wrong", said)._repr_html_() if status == "wrong" else ""
            shown = f"<p>{escape(said)}</p>" if status == "cannot tell" else shown
            parts.append(f"<div>{SIGNS[status]} {escape(name)}</div>{shown}")
        parts += [f'<p style="white-space:pre-wrap">{escape(said)}</p>' for said in self.ending()]
        if self.doctor is not None:
            parts.append(self.doctor._repr_html_())
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


def check(file: Any = "my_transformer.py", *, doctor: bool = True) -> Result:
    """Check a reader's file, whatever is written of it: a path, a module, or `globals()` (§3).

    Its code is executed. With `doctor=False` the model is not examined at the end.

    Raises:
        NoModelError: the file is not there, or is no Python.
    """
    own, result = _loaded(file)
    right: set[str] = set()
    stuck = False  # in a loop without an end: what calls it is not called
    for name in PARTS:
        part = Part(name, NOTHING_YET)
        if name in own:
            part = _judged(own, name, {*USES.get(name, ())} - right, stuck)
        result.parts[name] = part
        right |= {name} if part.verdict else set()
        stuck = stuck or "it had not returned after" in part.verdict.message
    if stuck:
        result.said.append("The whole model is not called: a part of it does not return.")
        return result
    try:
        with limited():
            _whole(own, result, doctor)
    except NeverEnds as error:
        result.said.append(f"The model was called, and {error}")
    except Exception as error:  # whatever a reader's code raises
        result.said.append(judging.stopped("The model", error))
    return result


def _loaded(file: Any) -> tuple[dict[str, Any], Result]:
    if isinstance(file, ModuleType):
        return vars(file), Result(file.__name__)
    if isinstance(file, dict):
        return file, Result("this notebook")
    path = Path(file)
    if path.is_dir():
        raise NoModelError(f"{path} is a folder: name the file in it")
    named = path.stem.replace("-", "_")
    held = sys.modules.get(named)  # a file may be called `transformer`, as our package is
    module, left = definitions(path)
    if held is not None:
        sys.modules[named] = held
    failed = [one for one in left if not one.endswith("not run")]
    return vars(module), Result(path.name, said=[f"Not executed: {one}" for one in failed[:3]])


def _judged(own: dict[str, Any], name: str, missing: set[str], stuck: bool) -> Part:
    """Judge a part as it stands; where it is not right, with right ones for what it uses."""
    verdict = NOTHING_YET if stuck else _verdict(own, name)
    if verdict or not missing:
        return Part(name, verdict)
    others = {other: getattr(solution, other) for other in missing}
    held = {other: own[other] for other in missing if other in own}
    own.update(others)
    try:
        alone = _verdict(own, name)
    finally:
        for other in others:
            del own[other]
        own.update(held)
    if alone:
        return Part(name, alone, tuple(n for n in PARTS if n in missing))
    return Part(name, alone if alone.status == "wrong" else verdict)


def _verdict(own: dict[str, Any], name: str) -> Verdict:
    try:
        with limited(), torch.no_grad():
            return judging.judge(name, own[name], own.get("WEIGHTS"))
    except NeverEnds as error:
        return Verdict("wrong", f"`{name}` was called, and {error}", "never ends")


def _whole(own: dict[str, Any], result: Result, doctor: bool) -> None:
    """Place the weights, translate, walk, examine; what cannot be done is said."""
    mapping = own.get("WEIGHTS")
    model = _built(own)
    if model is None:
        return
    try:
        result.model, result.subject = model, find_call(model, None, (0, 0))
        result.placing, sure = place(model, result.subject, mapping)
    except (CannotCallError, CannotPlaceError) as error:
        if "NotImplementedError" in str(error):  # a stub that it needs is not written
            return
        result.said.append(f"The book's weights cannot be loaded into your model: {error}")
        if isinstance(error, CannotPlaceError):
            result.said.append(mapping_to_fill_in())
        return
    suspects = [name for name, part in result.parts.items() if part.status == "wrong"]
    result.walk = walk(model, result.subject, result.placing, sure, suspects)
    codec = book.translator()[1]
    source = [*codec.encode(book.SENTENCE), EOS_ID]
    result.translation = codec.decode(book.greedy(result.subject.logits, [source])[0])
    if doctor:
        result.doctor = examine(model)


def _built(own: dict[str, Any]) -> nn.Module | None:
    made = own.get("Transformer")
    if made is None and not {*PARTS[:-1]} & {*own} - SHARED:  # no file of the skeleton's
        here = own.get("__name__")
        classes = [v for v in own.values() if isinstance(v, type) and issubclass(v, nn.Module)]
        made = next((v for v in reversed(classes) if v.__module__ == here), None)
    if made is None:
        return None
    try:
        with torch.random.fork_rng(devices=[]):
            model = made(**sized(made, judging.book_sizes()))
        return model.eval() if isinstance(model, nn.Module) else None
    except Exception:  # judged and told above
        return None


def mapping_to_fill_in() -> str:
    """Return the lines in which a reader says how the parts of a parameter's name are called."""
    rows = "".join(f'    "{name}": "{own}",\n' for name, own in TEMPLATE.items())
    return f"Write into your file, with your own names on the right:\n\nWEIGHTS = {{\n{rows}}}"
