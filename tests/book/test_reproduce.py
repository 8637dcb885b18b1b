"""The page on reproducing knows every record, and the commands that results/README.md knows."""

import re
from pathlib import Path

import pytest
import results
import yaml

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "book" / "reproduce.md").read_text(encoding="utf-8")
README = (ROOT / "results" / "README.md").read_text(encoding="utf-8")
RECORDS = sorted(
    p.name for p in (ROOT / "results").iterdir() if p.suffix in (".json", ".safetensors")
)


def rows(text):
    """The tools that each record's row names."""
    found = {}
    for line in text.splitlines():
        cells = [cell.strip().strip("`") for cell in line.strip("|").split("|")]
        if line.startswith("| `") and cells[0].endswith((".json", ".safetensors")):
            commands = re.findall(r"tools/\w+\.py[^`|]*", line)
            found[cells[0]] = [command.strip() for command in commands]
    return found


@pytest.mark.parametrize("text", [PAGE, README], ids=["page", "results/README.md"])
def test_every_record_has_a_row_with_its_command(text):
    assert sorted(rows(text)) == RECORDS
    assert all(len(commands) == 1 for commands in rows(text).values())


@pytest.mark.parametrize("text", [PAGE, README], ids=["page", "results/README.md"])
def test_both_name_the_commands_that_make_results_runs(text):
    assert rows(text) == {record.file: [record.command] for record in results.RECORDS}


def test_every_record_has_its_cost():
    for record in results.RECORDS:
        (line,) = (line for line in PAGE.splitlines() if line.startswith(f"| `{record.file}`"))
        assert line.endswith(f"| {results.cost(record.minutes)} |"), line


def test_commands_and_files_that_the_page_names_exist():
    for tool in re.findall(r"tools/\w+\.py", PAGE):
        assert (ROOT / tool).is_file(), tool
    for path in re.findall(r"(?:book|tests|results)/[\w./-]+\.(?:ipynb|json|md)", PAGE):
        assert (ROOT / path).is_file(), path


def test_the_page_is_in_the_book():
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    appendix = [chapter["file"] for chapter in toc["parts"][-1]["chapters"]]
    assert appendix.index("book/reproduce") == appendix.index("book/lab-notebook") + 1
