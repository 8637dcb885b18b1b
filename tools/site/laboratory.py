"""Fill the laboratory's page with its experiments when the site is made, so that it is never stale.

The page is `book/laboratory.md`; where it says `MARK`, a section for each declaration is put.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from typing import Any
from urllib.parse import quote

from sphinx.application import Sphinx
from tools.book import ledger

from walkthrough.lab import Comparison, Experiment, card, compare
from walkthrough.lab.__main__ import hours, state
from walkthrough.lab.discovery import declarations, module_of
from walkthrough.lab.measures import comparable
from walkthrough.lab.store import path_of, read
from walkthrough.page.links import BRANCH, REPOSITORY_URL

PAGE = "book/laboratory"
MARK = "<!-- the experiments -->"
SVG = re.compile(r"<svg .*?</svg>", re.DOTALL)
ATTRIBUTE = re.compile(r'([\w-]+)="([^"]*)"')
STYLED = re.compile(r' (?:class|style|aria-label)="[^"]*"')
TOGGLES = re.compile(r"<style>\.still-narrow.*?</style>")
FACES = "Arial, Helvetica, sans-serif"
OVERVIEW = "| Experiment | Question | Verdict | Size |\n|---|---|---|---|"
TOP = "| Arm | Beside {base}, by `{figure}` | Updates | Pairs | Verdict |\n|---|---|---|---|---|"


def sections(experiments: Iterable[Experiment], asked: Iterable[dict[str, Any]] = ()) -> str:
    """Return the page's text; `asked` are the comparisons that the ledger names."""
    rows, told = [OVERVIEW], []
    asked = list(asked)
    for e in experiments:
        verdicts: list[str] = []
        told.append("\n\n".join(_section(e, asked, verdicts)))
        counted = ", ".join(
            f"{verdict} ({n})" if n > 1 else verdict for verdict, n in Counter(verdicts).items()
        )
        size = " · ".join((state(e)[0], hours(e)))
        rows.append(f"| [{e.name}](#{e.name}) | {e.question} | {counted or '–'} | {size} |")
    return "\n\n".join(["\n".join(rows), *told])


def _section(e: Experiment, asked: list[dict[str, Any]], verdicts: list[str]) -> Iterator[str]:
    """Yield the parts of a section; its cards' `verdicts` are added to that list."""
    yield f"## {e.name}"
    yield f'<span id="{e.name}"></span>'  # Sphinx's own anchor leaves the number out
    yield f"*{e.question}*"
    source = str(find_spec(str(module_of(e))).origin)  # type: ignore[union-attr]
    place = source.rpartition("/walkthrough/")[2]
    declared = f"{REPOSITORY_URL}/blob/{BRANCH}/src/walkthrough/{place}"
    arms = (f"{arm.name} (base)" if arm.name == e.base else arm.name for arm in e.arms)
    rates = ", ".join(f"{rate:g}" for rate in e.rates)
    lengths = " and ".join(f"{length}" for length in e.lengths if length)
    told = [
        f"**Arms:** {'; '.join(arms)}",
        f"**Declared:** pairs: {len(e.seeds)} · rates, times each arm's own: {rates}"
        + (f" · updates: {lengths}" if lengths else ""),
        f"**Recorded:** {state(e)[0]} · {hours(e)}",
        f"**Run:** `python -m walkthrough.lab run {e.name}` · [declaration]({declared}) · "
        f"[record]({REPOSITORY_URL}/blob/{BRANCH}/results/{e.name}.jsonl)",
    ]
    yield "\n".join(f"- {line}" for line in told)
    runs = read(path_of(e.name), e.name)
    known = (*e.figures(e.seeds[0]), *(name for run in runs.values() for name in run.figures))
    figure = next(filter(comparable, known), None)
    cards = [dict(one) for one in asked if one["experiment"] == e.name]
    if figure is None or (e.base is None and not cards):
        return
    found, refusals = _compared(e, figure, {run.length for run in runs.values()})
    if not cards and found:
        last = found[-1]
        cards = [{"experiment": e.name, "arm": last.ours, "figure": figure, "length": last.length}]
    for one in cards:
        verdicts.append(_verdict(**one))
        evidence = card(one.pop("experiment"), one.pop("arm"), **one)
        yield f"```{{raw}} html\n{flat(evidence._repr_html_())}\n```"
    if len(found) > 1:
        rows = (
            f"| {one.ours} | {one.phrase()} | {one.length or '–'} | {one.n} | {one.verdict} |"
            for one in found
        )
        yield "\n".join([TOP.format(base=e.base, figure=figure), *rows])
    if refusals:
        some = "" if len(refusals) == 1 else f", and so for {len(refusals) - 1} more"
        yield f"Not compared yet: {refusals[0].removeprefix(f'{e.name}: ')}{some}."


def _verdict(experiment: str, arm: str, **asked: Any) -> str:
    return compare(experiment, arm, **asked).verdict


def flat(page: str) -> str:
    """Return a card whose drawings are pictures: fifty of them as elements make a page slow."""
    drawings = [_picture(svg) for svg in SVG.findall(page)]
    shown = drawings[0][1]
    if len(drawings) > 1:  # a phone's and a page's
        sources = {kind: source for kind, _, source in drawings}
        narrow = f'<source media="(max-width: 600px)" srcset="{sources["narrow"]}">'
        wide = next(picture for kind, picture, _ in drawings if kind == "wide")
        shown = f"<picture>{narrow}{wide}</picture>"
    before, _, rest = page.partition("<svg")
    return before + shown + rest.rpartition("</svg>")[2]


def _picture(svg: str) -> tuple[str, str, str]:
    """Return for whom a drawing is, the picture, and its address."""
    tag = svg[: svg.index(">") + 1]
    said = dict(ATTRIBUTE.findall(tag))
    kind, label = said["class"].rpartition("still-")[2], said["aria-label"]
    *_, width, height = said["viewBox"].split()
    alone = TOGGLES.sub("", STYLED.sub("", tag) + svg[len(tag) :]).replace(
        '"inherit"', f'"{FACES}"'
    )
    source = "data:image/svg+xml," + quote(alone, safe="/:=,;()'!?*+-._~@<>")
    picture = f'<img src="{source}" alt="{label}" width="{width}" height="{height}" loading="lazy">'
    return kind, picture, source


def _compared(e: Experiment, figure: str, lengths: set[int]) -> tuple[list[Comparison], list[str]]:
    """Return each arm beside the base, at the last length that has both, and why others are not."""
    found: list[Comparison] = []
    refusals: list[str] = []
    for arm in (arm.name for arm in e.arms if e.base and arm.name != e.base):
        why = "nothing is recorded"
        for length in sorted(lengths, reverse=True):
            try:
                found.append(compare(e, arm, figure=figure, length=length))
                break
            except ValueError as error:
                why = str(error.args[0])
        else:
            refusals.append(why)
    return found, refusals


def fill(app: Sphinx, name: str, source: list[str]) -> None:
    """Put the experiments into the page as Sphinx reads it."""
    if name == PAGE:
        claims = ledger.read_claims(ledger.CLAIMS.read_text(encoding="utf-8"))
        asked = (one for claim in claims for one in claim.compare)
        source[0] = source[0].replace(MARK, sections(declarations().values(), asked))


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx when to call."""
    app.connect("source-read", fill)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
