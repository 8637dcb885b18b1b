"""The table of differences names the test that pins each row; the test must exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "book" / "differences.md"
ROW = re.compile(
    r"\| \*\*([^|]+)\*\*: ([^|]+) \| ([^|]+\. [^|]+\.) "
    r"<details><summary>test</summary>`([^`|]+)`</details> \|"
)


def rows(text: str) -> list[list[str]]:
    """Topic, paper, here and why, and test of every table row but headings and rules."""
    lines = [line for line in text.splitlines() if line.startswith("| **")]
    return [list(found.groups()) if (found := ROW.fullmatch(line)) else [line] for line in lines]


def problem(row: list[str]) -> str | None:
    """What is wrong with a row: a gap, or a test that does not exist."""
    if len(row) != 4:
        return f"a row has a topic, the paper, here and why, and a folded test; got {row}"
    path, _, name = row[3].partition("::")
    if not (ROOT / path).is_file():
        return f"{row[0]}: there is no {path}"
    if not re.search(rf"^def {re.escape(name)}\(", (ROOT / path).read_text(), re.MULTILINE):
        return f"{row[0]}: {path} has no {name}"
    return None


def folded(test: str) -> str:
    """A test as a row names it."""
    return f"<details><summary>test</summary>`{test}`</details>"


ROWS = rows(PAGE.read_text())


def test_the_table_is_there():
    assert len(ROWS) >= 9


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_every_difference_is_pinned(row):
    assert problem(row) is None


@pytest.mark.parametrize(
    "line",
    [
        f"| **Ours**: a | B. C. {folded('tests/transformer/test_model.py::test_that_never_was')} |",
        f"| **Ours**: a | B. C. {folded('tests/transformer/test_nothing.py::test_x')} |",
        f"| **Ours**: a | B. {folded('tests/book/test_differences.py::test_the_rule_rejects')} |",
        "| **Ours**: a | B. C. |",
    ],
)
def test_the_rule_rejects(line):
    assert problem(rows(line)[0])
