"""results/README.md knows every record with its command; the page on reproducing leads to it."""

import re
from pathlib import Path

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


def test_every_record_has_a_row_with_the_command_that_make_results_runs():
    assert sorted(rows(README)) == RECORDS
    assert rows(README) == {record.file: [record.command] for record in results.RECORDS}


def test_commands_and_files_that_the_page_names_exist():
    for tool in re.findall(r"tools/\w+\.py", PAGE):
        assert (ROOT / tool).is_file(), tool
    for path in re.findall(r"(?:book|tests|results)/[\w./-]+\.(?:ipynb|json|md)", PAGE):
        assert (ROOT / path).is_file(), path


def test_the_page_is_in_the_book():
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    appendix = [chapter["file"] for chapter in toc["parts"][-1]["chapters"]]
    assert appendix.index("book/reproduce") == appendix.index("book/lab-notebook") + 1
