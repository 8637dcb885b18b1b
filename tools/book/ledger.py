"""Make book/ledger.md, the table of the paper's claims, from book/claims.toml and the chapters.

    python -m tools.book.ledger

No figure of the page is typed: each is found in the stored text, or in the assertions, of the
chapter's cells that carry the claim's tag. Where a record is the laboratory's, effect, pairs and
verdict are its comparison's.
"""

import ast
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from mdit_py_plugins.anchors.index import slugify  # what makes the anchors of the site
from tools.book.notebook_form import CHECKED, read_text, tags

from walkthrough.lab import Comparison, compare, holm
from walkthrough.lab.discovery import find
from walkthrough.lab.intervals import FEWEST_PAIRS

BOOK = Path(__file__).resolve().parents[2] / "book"
CLAIMS = BOOK / "claims.toml"
PAGE = BOOK / "ledger.md"
TAG = "claim-"
UNSEEN = "remove-cell"  # on the site such a cell does not exist
HOLDS, PARTLY, AGAINST = "holds", "holds in direction", "does not hold at this size"
MIXED = "holds in some rows"
UNTOLD, CANNOT = "not told apart", "cannot be tested here"
NARROW_NO_BREAK = "\u202f"

# What one claim and what several do, and what it means.
VERDICTS = {
    HOLDS: (
        "hold",
        "what came out is what the paper says, in every seed where chance has a part",
    ),
    PARTLY: (
        "hold in direction",
        "the paper's side is the better one, but in fewer cases, by less, under another condition "
        "or with fewer than five seeds, or at rates that nobody knows to be the best; the row says "
        "which",
    ),
    MIXED: ("hold in some rows", "some of its comparisons say so, and others the opposite"),
    AGAINST: (
        "do not hold at this size",
        "our runs, all smaller than the paper's, show no such effect or the opposite one; that "
        "does not refute the paper",
    ),
    "does not hold": ("do not hold", "a count or a formula comes out otherwise, at any size"),
    UNTOLD: ("are not told apart", "too few runs that agree, or no room for a difference"),
    CANNOT: ("cannot be tested here", "the row says what is missing"),
}
KINDS = {
    "experiment": "runs or measurements that could have come out otherwise",
    "arithmetic": "counted or computed, nothing is trained",
    "definition": "follows from how the model is built; the row shows that our code is built so",
}
EXPECTED = ("better", "worse", "level")
COMPUTED = {"kind", "made", "seeds", "verdict", "find", "figure", "effects", "reason"}
"""What a row with `compare` does not say itself."""
MADE = {"page": "on the page", "recorded": "recorded"}

HEAD = """\
---
myst:
  html_meta:
    description: The paper's claims that a reader could doubt, how each was tested, what came out.
---

# The ledger

What the paper claims, in its own order, how this book tested it, and what came out.
Made by `python -m tools.book.ledger` from `book/claims.toml` and the chapters: no figure is
typed by hand.

"""
RULE = """
:::{dropdown} How a verdict is computed
Where the record is [the laboratory's](laboratory.md), the verdict is computed: the claim says which
arm should be better, or that both are level. If five pairs of runs or more say so by the
laboratory's rules, it *holds*. A claim of several comparisons holds when all do, by Holm over them.
If the claimed side stands out but the rules do not let it be told (fewer pairs that all agree, one
rate or not the best one, a best rate at the edge or with neighbours too far from it, a sign that
turns with the rate or the length, another measure that says the opposite), it *holds in
direction*. An effect stands with its 95 % interval; it has none below five pairs. Pairs, runs with
one seed, are those that agree with the effect, of all; where nothing is paired, the column has the
number of seeds. *Rates* are those of both arms, times each one's own, and from how many each was
chosen; *lengths* the updates that are compared, after a stroke the other recorded ones; the *rival*
knows nothing and could look the same: an arm, or *none*, for which the
[declaration](laboratory.md) has a sentence.
:::

"""
TOP = """
| Section | Claim | Tested | What came out | Effect | Pairs | Rates | Lengths | Rival \
| Kind | Verdict |
|---|---|---|---|---|---|---|---|---|---|---|
"""


class LedgerError(ValueError):
    """A claim whose figure cannot be found."""


class Found(str):
    """What a group of a pattern matched; a format after a colon reads it as a number."""

    def __format__(self, spec: str) -> str:
        """Write it as prose does: −1 for -1, 5 % for 5%, one space for several."""
        if spec:
            return format(float(self), spec).replace("%", " %")
        return re.sub(r"^-(?=\d)", "−", " ".join(self.split()))


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One row: what the paper says, how it was tested, what came out."""

    id: str
    section: str
    claim: str
    boxes: tuple[str, ...]
    test: tuple[str, str]  # chapter and heading
    verdict: str
    kind: str = "experiment"
    made: str = ""
    seeds: int = 0
    size: str = ""
    typed: str = ""
    compare: tuple[dict[str, Any], ...] = ()
    expects: str = ""
    find: tuple[str, ...] = ()
    figure: str = ""
    reason: str = ""
    effects: tuple[tuple[str, ...], ...] = ()  # what, effect, pairs, rates, lengths, rival

    @property
    def tag(self) -> str:
        """The tag of the cells that test it, and the anchor of its row."""
        return TAG + self.id


class Chapter:
    """What the ledger needs to know of a notebook: headings, paper boxes, cells by tag."""

    def __init__(self, name: str, notebook: Any) -> None:
        """Read a notebook of this name, without its ending."""
        self.name = name
        self.number = name[:2]
        self.cells = notebook.cells

    @property
    def markdown(self) -> str:
        """All text cells, one after the other."""
        return "\n".join(cell.source for cell in self.cells if cell.cell_type == "markdown")

    @cached_property
    def headings(self) -> list[str]:
        """The text of every heading that has an anchor on the site."""
        return re.findall(r"^#{1,3} (.+)$", self.markdown, re.MULTILINE)

    @cached_property
    def boxes(self) -> set[str]:
        """The paper boxes, as a claim names them."""
        titles = re.findall(
            r"\{admonition\} Paper, (.+)\n:class: paper$", self.markdown, re.MULTILINE
        )
        return {f"{self.number} {title}" for title in titles}

    @cached_property
    def tagged(self) -> dict[str, list[tuple[str, Any]]]:
        """For each claim's tag its cells, each with the heading above it."""
        found: dict[str, list[tuple[str, Any]]] = {}
        heading = ""
        for cell in self.cells:
            if cell.cell_type == "markdown":
                heading = ([heading, *re.findall(r"^#+ (.+)$", cell.source, re.MULTILINE)])[-1]
            for tag in tags(cell):
                if tag.startswith(TAG):
                    found.setdefault(tag, []).append((heading, cell))
        return found

    def text(self, claim: Claim) -> str:
        """What the claim's cells store, and what those assert that store nothing."""
        return "\n".join(_text(cell) for _, cell in self.tagged.get(claim.tag, []))


def read_claims(text: str) -> list[Claim]:
    """Return the claims.

    Raises:
        TypeError: a claim has a field too many or too few.
        LedgerError: a claim names a comparison that the laboratory cannot make.
    """
    claims = []
    for table in tomllib.loads(text)["claims"]:
        row: dict[str, Any] = {n: tuple(v) if isinstance(v, list) else v for n, v in table.items()}
        claims.append(Claim(**row, **(computed(row) if "compare" in row else {})))
    return claims


def computed(row: dict[str, Any]) -> dict[str, Any]:
    """Return what the laboratory says of a row: effect, pairs and verdict.

    Raises:
        LedgerError: the row says some of it, or something of it cannot be compared.
    """
    by_hand = ", ".join(sorted(COMPUTED & set(row)))
    if by_hand or row.get("expects") not in EXPECTED:
        wrong = f"types {by_hand}" if by_hand else f"`expects` one of {', '.join(EXPECTED)}"
        raise LedgerError(f"{row['id']}: a row with `compare` {wrong}")
    try:
        asked = map(dict, row["compare"])
        found = holm(compare(one.pop("experiment"), one.pop("arm"), **one) for one in asked)
    except (KeyError, ValueError, TypeError, FileNotFoundError) as error:
        raise LedgerError(f"{row['id']}: {error.args[0]}") from error
    return {
        "made": "recorded",
        "seeds": min(one.n for one in found),
        "effects": tuple(_effect(one) for one in found),
        "verdict": settled(row["expects"], found),
    }


def _effect(one: Comparison) -> tuple[str, ...]:
    asked = f"{one.ours} against {one.base}, {one.by}"
    effect = f"{one.effect} ({one.interval})" if one.interval else one.effect
    others = ", ".join(f"{p.x}" for p in one.by_length if p.x != one.length)
    rates = " and ".join(f"×{r:g} of {n}" for r, n in zip(one.rates, one.of_rates, strict=True))
    e = find(one.experiment)
    rates = "–" if e.no_rate or not one.length else rates
    rival = e.rival if e.rival in {arm.name for arm in e.arms} else "none"
    lengths = f"{one.length or '–'}" + (f" / {others}" if others else "")
    return f"{asked}: {one.verdict}", effect, one.pairs, rates, lengths, rival


def settled(expects: str, found: Iterable[Comparison]) -> str:
    """Return the verdict of a claim that expects this of each comparison: it holds when all do."""
    said = {_settled(expects, one) for one in found}
    if len(said) == 1:
        return said.pop()
    if said & {HOLDS, PARTLY}:
        return MIXED if AGAINST in said else PARTLY
    return AGAINST


def _settled(expects: str, one: Comparison) -> str:
    if one.verdict == expects:
        return HOLDS
    side = one.side if one.verdict not in (UNTOLD, "ceiling") else ""
    if one.verdict == "too few seeds":
        side = {one.n: "better", 0: "worse"}.get(one.wins, "") if all(one.differences) else ""
    if not side or (expects == "level" and one.verdict == "too few seeds"):
        return UNTOLD
    return PARTLY if side == expects else AGAINST


def read_chapters(book: Path = BOOK) -> dict[str, Chapter]:
    """Return every chapter by the name of its file."""
    names = (path for path in sorted(book.glob("[0-9][0-9]-*.ipynb")))
    return {p.stem: Chapter(p.stem, read_text(p.read_text(encoding="utf-8"))) for p in names}


def figure(claim: Claim, chapter: Chapter) -> str:
    """Fill the claim's template from its cells.

    Raises:
        LedgerError: a pattern does not match exactly once, or the template names another group.
    """
    text, found = chapter.text(claim), dict[str, Found]()
    for pattern in claim.find:
        matches = list(re.finditer(pattern, text, re.MULTILINE))
        if len(matches) != 1:
            raise LedgerError(f"{claim.id}: {pattern!r} matches {len(matches)} times, not once")
        found |= {name: Found(value) for name, value in matches[0].groupdict().items()}
    try:
        return claim.figure.format(**found)
    except (KeyError, ValueError) as error:
        raise LedgerError(f"{claim.id}: {claim.figure!r} wants {error}") from error


def problems(claims: list[Claim], chapters: dict[str, Chapter]) -> list[str]:
    """Return what is wrong with the claims, or with the tags and boxes of the chapters."""
    found = [line for claim in claims for line in _problems_of(claim, chapters)]
    found += [f"{id_}: twice" for id_, n in Counter(c.id for c in claims).items() if n > 1]
    known = {claim.tag: claim.test[0] for claim in claims if claim.verdict != CANNOT}
    for chapter in chapters.values():
        for tag in chapter.tagged:
            if known.get(tag) != chapter.name:
                found.append(f"{chapter.name}: a cell carries {tag}, and no claim is tested there")
    boxes = {box for chapter in chapters.values() for box in chapter.boxes}
    covered = {box for claim in claims for box in claim.boxes}
    found += [f"{box}: no claim covers this box" for box in sorted(boxes - covered)]
    found += [f"{c.id}: no chapter has the box {b!r}" for c in claims for b in set(c.boxes) - boxes]
    return found


def _problems_of(claim: Claim, chapters: dict[str, Chapter]) -> list[str]:
    name, heading = claim.test
    if name not in chapters:
        return [f"{claim.id}: there is no {name}"]
    chapter = chapters[name]
    cells = chapter.tagged.get(claim.tag, [])
    tested = claim.verdict != CANNOT
    typed = tested and not claim.compare  # where no comparison decides, the row says why
    rules: dict[str, object] = {
        "the id is a section and words: 3.2.1-variance": (
            re.fullmatch(r"\d+(\.\d+)*(-[a-z0-9]+)+", claim.id)
        ),
        f"the section {claim.section!r} does not begin with that of the id": (
            claim.section.startswith(claim.id.split("-")[0])
        ),
        f"unknown verdict {claim.verdict!r}": claim.verdict in VERDICTS,
        f"unknown kind {claim.kind!r}: one of {', '.join(KINDS)}": claim.kind in KINDS,
        "no paper box says it": claim.boxes,
        f"{name} has no one heading {heading!r}": chapter.headings.count(heading) == 1,
        "what cannot be tested has a reason, and no figure": (
            tested or (claim.reason and not (claim.find or claim.figure or claim.made))
        ),
        f"a test has `made` ({', '.join(MADE)}), `size`, `find` and `figure`": (
            not tested or (claim.made in MADE and claim.size and (claim.figure or claim.effects))
        ),
        "a claim with a test needs no reason": not (tested and claim.reason),
        f"no cell that readers see carries {claim.tag} in {name}": (
            not tested or any(UNSEEN not in tags(cell) for _, cell in cells)
        ),
        "a test has `find`": not typed or claim.find,
        f"fewer than {FEWEST_PAIRS} seeds show a direction at most": (
            not typed or claim.verdict != HOLDS or not 0 < claim.seeds < FEWEST_PAIRS
        ),
        "a recorded test has `compare`, or says in `typed` why nothing is compared": (
            not typed or claim.made != "recorded" or claim.typed
        ),
    }
    found = [f"{claim.id}: {wrong}" for wrong, well in rules.items() if not well]
    for above, cell in cells if tested else ():
        if above != heading:
            found.append(f"{claim.id}: cell {cell.id} stands under {above!r}, not {heading!r}")
    try:
        figure(claim, chapter)
    except LedgerError as error:
        found.append(str(error))
    return found


def page(claims: list[Claim], chapters: dict[str, Chapter]) -> str:
    """Return the text of the page.

    Raises:
        LedgerError: a figure cannot be found.
    """
    meanings = "\n".join(f"- *{verdict}*: {text}." for verdict, (_, text) in VERDICTS.items())
    kinds = "\n".join(f"- *{kind}*: {text}." for kind, text in KINDS.items())
    rows = "\n".join(_row(claim, chapters[claim.test[0]]) for claim in claims)
    return f"{HEAD}{meanings}\n{RULE}{kinds}\n\n{counts(claims)}\n{TOP}{rows}\n"


def counts(claims: list[Claim]) -> str:
    """Return the lines above the table: of experiments first, and apart from all others."""
    untried = [claim for claim in claims if claim.verdict == CANNOT]
    tried = [c for c in claims if c.kind == "experiment" and c not in untried]
    others = [c for c in claims if c not in tried and c not in untried]
    told = [f"**{len(tried)} experiments: {_counted(tried)}.**"]
    told += [f"{len(others)} definitions and counts: {_counted(others)}."] if others else []
    told += [f"{len(untried)} {CANNOT}."] if untried else []
    return "\n".join(told)


def _counted(claims: list[Claim]) -> str:
    n_of = Counter(claim.verdict for claim in claims)
    return " · ".join(
        f"{n_of[verdict]} {verdict if n_of[verdict] == 1 else several}"
        for verdict, (several, _) in VERDICTS.items()
        if n_of[verdict]
    )


def _row(claim: Claim, chapter: Chapter) -> str:
    """One line a comparison; those after the first have nothing of the claim's own."""
    heading = claim.test[1]
    link = f"[{chapter.number}: {heading}]({chapter.name}.ipynb#{slugify(heading)})"
    seeds = str(claim.seeds or "–")
    if claim.verdict == CANNOT:
        tested, effects = f"{link} says why not", [(f"no test: {claim.reason}", "", seeds, *"–––")]
    else:
        experiments = dict.fromkeys(asked["experiment"] for asked in claim.compare)
        made = ", ".join(f"[{name}](laboratory.md#{name})" for name in experiments)
        tested = f"{link}, {made or MADE[claim.made]}: {claim.size}"
        effects = [*claim.effects] or [(figure(claim, chapter), "", seeds, *"–––")]
    section = f'<span id="{claim.tag}"></span>§{claim.section}'
    rows = [(section, claim.claim, tested, *effects[0], claim.kind, claim.verdict)]
    rows += [("", "", "", *effect, "", "") for effect in effects[1:]]
    lines = (" | ".join(column.replace("|", "\\|") for column in row) for row in rows)
    return "\n".join(f"| {line.replace(' %', NARROW_NO_BREAK + '%')} |" for line in lines)


def _text(cell: Any) -> str:
    if CHECKED in tags(cell):
        texts = (
            out.get("text") or out.get("data", {}).get("text/plain", "") for out in cell.outputs
        )
        return "\n".join(texts)
    nodes = (node for node in ast.walk(ast.parse(cell.source)) if isinstance(node, ast.Assert))
    asserted = (ast.get_source_segment(cell.source, node) or "" for node in nodes)
    return "\n".join(" ".join(line.split()) for line in asserted)


def main() -> int:
    """Write the page; return the exit status."""
    try:
        claims = read_claims(CLAIMS.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, TypeError, LedgerError) as error:
        print(f"ledger.py: {CLAIMS.name}: {error}", file=sys.stderr)
        return 1
    chapters = read_chapters()
    if found := problems(claims, chapters):
        print(*(f"ledger.py: {line}" for line in found), sep="\n", file=sys.stderr)
        return 1
    PAGE.write_text(page(claims, chapters), encoding="utf-8")
    print(f"wrote {PAGE.name}\n{counts(claims)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
