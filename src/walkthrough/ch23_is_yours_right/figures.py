"""The figures of chapter 23."""

from collections.abc import Mapping, Sequence
from html import escape

from jaxtyping import Float
from torch import Tensor

from walkthrough.doctor import Report
from walkthrough.drawing.grids import Grid, grids
from walkthrough.drawing.scene import Scene, framed

_CSS = """
#scene-report .cells{grid-template-columns:auto repeat(var(--n),1.9em)}
#scene-report .says p{min-height:9.5em}
#scene-report .says small{opacity:.85;font-size:.92em}
"""


def reports(
    found: Mapping[str, Report],
    moved: Mapping[str, tuple[Float[Tensor, "rows columns"], Float[Tensor, "rows 1"]]],
    *,
    question: str = "Which slip?",
    none: str = "no slip",
    words: str = "target word changed",
    padding: str = "padding behind the source",
) -> Scene:
    """Return what the doctor says of each file, beside the predictions that moved.

    A cell is as strong as its prediction moved, beside the strongest of its picture.
    """
    rows = [f"prediction {n + 1}" for n in range(len(next(iter(moved.values()))[0]))]
    columns = [f"word {n + 1}" for n in range(len(rows))]
    by_word, by_padding = [], []
    for of_words, of_padding in moved.values():
        top = float(of_words.max())
        by_word.append(_seen(of_words / top))
        by_padding.append(_seen(of_padding / top))
    return grids(
        "report",
        [Grid(words, rows, columns, by_word), Grid(padding, rows, ["padding"], by_padding)],
        corner="moved ↓<br>changed →",
        words="more than half as strong as the strongest",
        question=question,
        choices=[escape(none if slip == "none" else slip) for slip in found],
        says=[_said(report) for report in found.values()],
        first=min(1, len(found) - 1),
        css=_CSS,
    )


def _seen(moved: Tensor) -> Tensor:
    """What moved at all can be seen: from a sixth of full strength upwards."""
    return ((1 / 6 + moved * 5 / 6) * (moved > 1e-4)).clamp_max(1)


def _said(report: Report) -> str:
    if not report.bugs:
        return escape(report.verdict())
    return "<br>".join(
        f"<b>{escape(bug.name)}</b> (§{bug.section}): {escape(bug.sentence)} "
        f"<small>Seen: {escape(bug.witness)}.</small>"
        for bug in report.bugs
    )


MARKS = {"bug": "!", "departure": "≠", "same": "=", "not seen": "·"}
_TABLE_CSS = """
#scene-others{overflow-x:auto}
#scene-others table{border-collapse:separate;border-spacing:2px;margin:0;width:auto!important;
table-layout:auto}
#scene-others :is(td,thead th){min-width:0!important;padding:0!important}
#scene-others th{font-weight:500;font-size:.8em;text-align:left;border:0;padding:0 .5em 0 0}
#scene-others thead th{writing-mode:vertical-rl;transform:rotate(180deg);line-height:1.7}
#scene-others td{width:1.5em;height:1.5em;padding:0;border:1px solid transparent;border-radius:3px;
text-align:center;font-size:.85em;line-height:1.4}
#scene-others .bug{border-color:currentColor;font-weight:700;background:rgba(213,94,0,.55)}
#scene-others .departure{background:rgba(0,114,178,.28)}
@media(max-width:480px){#scene-others td{width:1.2em;height:1.3em;font-size:.7em}
#scene-others table{border-spacing:1px}#scene-others th{font-size:.66em}}
"""


def implementations(
    rows: Sequence[Mapping[str, object]],
    details: Sequence[str],
    *,
    caption: str = "",
) -> Scene:
    """Return a square a detail for each public implementation, with a mark that says what was seen.

    A row has `repository`, `commit`, and the names found as `bugs`, `departures` and `same`.
    """
    head = "".join(f"<th scope=col>{escape(detail)}</th>" for detail in details)
    body, said = "", []
    for row in rows:
        kinds = {detail: _kind(row, detail) for detail in details}
        address = f"https://github.com/{row['repository']}/tree/{row['commit']}"
        name = escape(str(row["repository"]).partition("/")[0])
        marks = "".join(
            f'<td class="{kind.replace(" ", "-")}" title="{escape(detail)}: {kind}">'
            f"{MARKS[kind]}</td>"
            for detail, kind in kinds.items()
        )
        body += f'<tr><th scope=row><a href="{address}">{name}</a></th>{marks}</tr>'
        bugs = [detail for detail, kind in kinds.items() if kind == "bug"]
        said.append(f"{row['repository']}: {', '.join(bugs) or 'no bug seen'}")
    table = f"<table><thead><tr><th></th>{head}</tr></thead><tbody>{body}</tbody></table>"
    return framed("others", table, caption=caption, description="; ".join(said), css=_TABLE_CSS)


def _kind(row: Mapping[str, object], detail: str) -> str:
    for kind, found in (("bug", "bugs"), ("departure", "departures"), ("same", "same")):
        if detail in row[found]:  # type: ignore[operator]
            return kind
    return "not seen"
