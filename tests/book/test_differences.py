"""The table of differences names the test that pins each row; the test must exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "book" / "differences.md"


def rows(text: str) -> list[list[str]]:
    """The cells of every table row but headings and rules."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [row for row in cells if row[0] != "Topic" and not set(row[0]) <= set("-: ")]


def problem(row: list[str]) -> str | None:
    """What is wrong with a row: a gap, or a test that does not exist."""
    if len(row) != 5 or not all(row):
        return f"a row has five filled cells, got {row}"
    path, _, name = row[4].strip("`").partition("::")
    if not (ROOT / path).is_file():
        return f"{row[0]}: there is no {path}"
    if not re.search(rf"^def {re.escape(name)}\(", (ROOT / path).read_text(), re.MULTILINE):
        return f"{row[0]}: {path} has no {name}"
    return None


ROWS = rows(PAGE.read_text())


def test_the_table_is_there():
    assert len(ROWS) >= 9


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_every_difference_is_pinned(row):
    assert problem(row) is None


@pytest.mark.parametrize(
    "line",
    [
        "| Topic of ours | a | b | c | `tests/transformer/test_model.py::test_that_never_was` |",
        "| Topic of ours | a | b | c | `tests/transformer/test_nothing.py::test_x` |",
        "| Topic of ours | a | b |  | `tests/transformer/test_imports.py::test_the_rule_rejects` |",
        "| Topic of ours | a | b |",
    ],
)
def test_the_rule_rejects(line):
    assert problem(rows(line)[0])
