"""The report in a notebook: four lists; a leak as a map, positions beside the paper's."""

from html import escape

from torch import Tensor

from walkthrough.doctor.positions import printed
from walkthrough.doctor.report import TITLES, Finding, Report

_CSS = """<style>figure.doctor{margin:0}
.doctor dt{font-weight:650;margin-top:.6em}.doctor dd{margin:.1em 0 .1em 1.2em}
.doctor small{opacity:.8}.doctor summary{font-weight:650;margin-top:.8em;cursor:pointer}
.doctor table{border-collapse:collapse;display:inline-table;margin:.4em 1.5em .4em 0}
.doctor td,.doctor th{padding:0 .25em;border:0;min-width:1.1em;font-size:.8em;text-align:center}
.doctor td{outline:1px solid color-mix(in srgb,currentColor 18%,transparent)}</style>"""
WARM, COOL = "213,94,0", "0,114,178"


def page(report: Report) -> str:
    """Return the report as HTML that needs nothing else, in light and in dark."""
    parts = [_CSS, f"<p><strong>{escape(report.verdict())}</strong></p>"]
    for to, title in TITLES.items():
        findings: list[Finding] = getattr(report, to)
        opened = " open" if to in ("bugs", "departures") else ""
        lines = "".join(_line(report, to, finding) for finding in findings)
        head = f"<summary>{title} ({len(findings)})</summary>"
        parts += [f"<details{opened}>{head}<dl>{lines}</dl></details>"] if findings else []
    looked_for = escape("; ".join(report.looked_for))
    parts.append(f"<p><small>Looked for: {looked_for}.</small></p>")
    return f'<figure class="doctor">{"".join(parts)}</figure>'


def _line(report: Report, to: str, finding: Finding) -> str:
    parts = [escape(finding.sentence)]
    parts += [f"<small>seen: {escape(finding.witness)}</small>"] if finding.witness else []
    parts += [f"<code>{escape(finding.module)}</code>"] if finding.module else []
    if (to, finding.name) == ("bugs", "future") and report.leak is not None:
        parts.append(leak_map(report.leak))
    if to != "same" and finding.name == "positions" and report.positions is not None:
        parts.append(tables(report.positions))
    about = f'§{finding.section} · <a href="{finding.link}">read</a>'
    head = f"<dt>{escape(finding.name)} <small>{about}</small></dt>"
    return head + "".join(f"<dd>{what}</dd>" for what in parts)


def leak_map(leak: Tensor) -> str:
    """Draw which predictions (rows) move with which target words (columns); leaks are orange."""
    top = float(leak.max()) or 1.0
    cells = [
        [(WARM if j > i else COOL, float(v) / top, f"{v:.2g}") for j, v in enumerate(row)]
        for i, row in enumerate(leak)
    ]
    return _table("rows: predictions, columns: the word that was changed", cells)


def tables(positions: Tensor) -> str:
    """Draw the table of positions beside the paper's."""
    drawn = {"added here": positions, "printed in 3.5": printed(*positions.shape)}
    return "".join(
        _table(
            f"{name}: rows are positions",
            [[(WARM if v > 0 else COOL, abs(float(v)), "") for v in row[:12]] for row in table],
        )
        for name, table in drawn.items()
    )


def _table(caption: str, cells: list[list[tuple[str, float, str]]]) -> str:
    rows = ""
    for i, row in enumerate(cells):
        drawn = [
            f'<td style="background:rgba({c},{0.45 * min(1, a):.2f})">{t if a else ""}</td>'
            for c, a, t in row
        ]
        rows += f"<tr><th>{i}</th>{''.join(drawn)}</tr>"
    return f"<table><caption>{escape(caption)}</caption>{rows}</table>"
