"""What an examination found: four lists, each line with its witness and its place in the book."""

import json
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import fill
from typing import Any, NamedTuple

from torch import Tensor

SITE = "https://transformer-walkthrough.github.io/transformer-walkthrough/"
WORDS = tomllib.loads((Path(__file__).parent / "words.toml").read_text(encoding="utf-8"))
TITLES = {
    "bugs": "Bugs",
    "departures": "Departures from the paper",
    "same": "The same as the paper",
    "not_examined": "Not examined",
}


class Finding(NamedTuple):
    """One line of a report.

    `name` is a heading of `words.toml`, `witness` what was measured, `module` where it was seen.
    """

    name: str
    sentence: str
    witness: str = ""
    module: str = ""

    @property
    def section(self) -> str:
        """The section of the paper, such as 3.2.3."""
        return str(WORDS[self.name]["section"])

    @property
    def link(self) -> str:
        """The address of the place in the book that explains it."""
        return f"{SITE}book/{WORDS[self.name]['place']}"


@dataclass(repr=False)
class Report:
    """What `examine` found, as four lists of `Finding`.

    `looked_for` says which bugs were looked for. `leak` has a row for each prediction and a column
    for each target word: how far the logits moved when that word was changed, in standard
    deviations. `positions` is the table that was added to the source's embeddings, if it was seen.
    """

    model: str = "model"
    bugs: list[Finding] = field(default_factory=list)
    departures: list[Finding] = field(default_factory=list)
    same: list[Finding] = field(default_factory=list)
    not_examined: list[Finding] = field(default_factory=list)
    looked_for: list[str] = field(default_factory=list)
    leak: Tensor | None = None
    positions: Tensor | None = None

    def verdict(self) -> str:
        """Return one sentence: how many bugs, or which were looked for; never that all is well."""
        n = len(self.bugs)
        if n:
            return f"{self.model}: {n} bug{'s' if n > 1 else ''} seen."
        if not self.looked_for:
            return f"{self.model}: could not be examined."
        return f"{self.model}: none of the {len(self.looked_for)} bugs looked for was seen."

    def add(self, to: str, key: str, witness: str = "", module: str = "", **values: Any) -> None:
        """Add a line to a list; `key` is the name and the sentence, as in `words.toml`."""
        name, _, which = key.rpartition(".")
        sentence = WORDS[name][which].format(**values).strip()
        getattr(self, to).append(Finding(name, sentence, witness, module))

    def __repr__(self) -> str:
        """Return the verdict: what a notebook keeps beside the page."""
        return self.verdict()

    def __str__(self) -> str:
        """Return the report for a terminal."""
        lines = [self.verdict()]
        for to, title in TITLES.items():
            findings: list[Finding] = getattr(self, to)
            lines += ["", f"{title} ({len(findings)})"] if findings else []
            for finding in findings:
                lines.append(_wrapped(f"· {finding.name} (§{finding.section}): {finding.sentence}"))
                lines += [_wrapped(f"    seen: {finding.witness}")] if finding.witness else []
                lines += [_wrapped(f"    in: {finding.module}")] if finding.module else []
                lines += [f"    read: {finding.link}"] if to in ("bugs", "departures") else []
        return "\n".join([*lines, "", _wrapped(f"Looked for: {'; '.join(self.looked_for)}.")])

    def _repr_html_(self) -> str:
        from walkthrough.doctor.pages import page  # drawn only where there is a page

        return page(self)

    def to_json(self) -> str:
        """Return the report as JSON: the verdict, the four lists, and what was looked for."""
        told: dict[str, Any] = {"model": self.model, "verdict": self.verdict()}
        for to in TITLES:
            findings: list[Finding] = getattr(self, to)
            told[to] = [f._asdict() | {"section": f.section, "link": f.link} for f in findings]
        leak = None if self.leak is None else [[round(v, 5) for v in r] for r in self.leak.tolist()]
        told |= {"looked_for": self.looked_for, "leak": leak}
        return json.dumps(told, ensure_ascii=False, indent=1)


def _wrapped(text: str) -> str:
    return fill(text, 100, subsequent_indent="      ", break_on_hyphens=False)
