"""`make book` on a tiny book: it fails when it must, shows nothing stale, and runs side by side.

Guards against the four ways in which a Jupyter Book build passes while wrong: a failing cell that
is only a warning, a warning that the second run forgets, outputs cached from code that has changed,
a cell that never ends.
"""

import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
import yaml
from tools.book import execute

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = ("title", "only_build_toc_files", "exclude_patterns", "execute")
AT_ONCE = min(2, execute.at_a_time())

pytestmark = pytest.mark.slow

# Waits until so many chapters run at the same time.
CELL = f"""
import sys
import time
from pathlib import Path

sys.path.insert(0, "../src")
import tiny

with Path("../runs-{{name}}").open("a") as runs:
    runs.write("run ")
for _ in range(600):
    if len(list(Path("..").glob("runs-*"))) >= {AT_ONCE}:
        break
    time.sleep(0.1)
else:
    raise RuntimeError("the other chapter does not run")
print("the word is", tiny.WORD)
"""


class TinyBook:
    """A few chapters and a package of one line, built with the book's own settings and tool."""

    def __init__(self, root: Path, *, timeout: int, **chapters: str) -> None:
        self.root = root
        for folder in ("book", "src"):
            (root / folder).mkdir()
        settings = yaml.safe_load((ROOT / "_config.yml").read_text())
        kept = {key: settings[key] for key in SETTINGS}
        kept["execute"]["timeout"] = timeout
        self.write("_config.yml", yaml.safe_dump(kept))
        first, *others = chapters
        toc = {"format": "jb-book", "root": f"book/{first}"}
        self.write(
            "_toc.yml", yaml.safe_dump(toc | {"chapters": [{"file": f"book/{o}"} for o in others]})
        )
        self.write("requirements.txt", "-e .\n")
        self.write("src/tiny.py", "WORD = 'first'\n")
        for name, code in chapters.items():
            self.chapter(name, code)

    def write(self, name: str, text: str) -> None:
        (self.root / name).write_text(text)

    def chapter(self, name: str, code: str = CELL, prose: str = "Text.") -> None:
        cells = [
            nbformat.v4.new_markdown_cell(f"# {name}\n\n{prose}", id="text"),
            nbformat.v4.new_code_cell(code.replace("{name}", name), id="code"),
        ]
        kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
        notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
        nbformat.write(notebook, self.root / "book" / f"{name}.ipynb")

    def build(self, *pages: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "tools.book.build", "--root", str(self.root), *pages]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    def runs(self, *names: str) -> list[int]:
        return [(self.root / f"runs-{name}").read_text().count("run") for name in names]

    def shows(self, words: str) -> bool:
        return words in (self.root / "_build/html/book/one.html").read_text()


def test_a_build_is_quiet_and_runs_again_what_has_changed_and_no_more(tmp_path: Path) -> None:
    book = TinyBook(tmp_path, timeout=100, one=CELL, two=CELL)
    first = book.build()
    assert (first.returncode, first.stderr) == (0, "")
    chapters, end = first.stdout.splitlines()[:-1], first.stdout.splitlines()[-1]
    assert sorted(line.split()[0] for line in chapters) == ["book/one.ipynb", "book/two.ipynb"]
    assert re.fullmatch(r"Built in \d+ s: open .*index.html", end)
    assert book.shows("the word is first")

    assert "up to date" in book.build().stdout
    assert book.runs("one", "two") == [1, 1]

    book.chapter("two", CELL + "\nprint('edited')")
    assert book.build().returncode == 0
    assert book.runs("one", "two") == [1, 2]

    book.write("src/tiny.py", "WORD = 'second'\n")
    assert book.build().returncode == 0
    assert book.shows("the word is second")
    # Once each: Jupyter Book has found all outputs, and run nothing by itself.
    assert book.runs("one", "two") == [2, 3]

    book.chapter("two", CELL + "\nprint('edited')", prose="[nowhere](lost.md)")
    for _ in range(2):
        done = book.build()
        assert done.returncode != 0
        assert "lost.md" in done.stderr


def test_what_does_not_run_fails_the_build_every_time_and_stops_no_other(tmp_path: Path) -> None:
    book = TinyBook(
        tmp_path,
        timeout=20,  # a kernel that died is told in that time on a busy machine, too
        good=CELL,
        bad="raise RuntimeError('a chapter that ' + 'does not run')",
        dead="import os\n\nos._exit(1)",
        endless="import time\n\ntime.sleep(300)",
    )
    (tmp_path / "runs-other").touch()
    for _ in range(2):
        done = book.build()
        assert done.returncode != 0
        assert "a chapter that does not run" in done.stderr
        assert "Traceback" in done.stderr
        assert "dead.ipynb failed: DeadKernelError" in done.stderr
        assert "endless.ipynb failed: CellTimeoutError" in done.stderr
        assert "encryption" not in done.stderr
    assert book.runs("good") == [1]


def test_the_first_two_pages_are_there_while_others_run_and_some_are_made_alone(tmp_path) -> None:
    waits = """
import time
from pathlib import Path
for _ in range(600):
    if Path("../_build/html/book/two.html").exists():
        break
    time.sleep(0.1)
else:
    raise RuntimeError("the first pages are not made first")
"""
    book = TinyBook(tmp_path, timeout=100, one="1", two="2", three=waits, four="1 / 0")
    book.chapter("two", "2", prose="[On](three.ipynb)")
    done = book.build()
    assert done.returncode != 0
    site = tmp_path / "_build" / "html"
    assert f"You can begin to read: {site / 'index.html'}" in done.stdout
    assert "four.ipynb failed" in done.stderr

    done = book.build("book/two")
    assert (done.returncode, done.stderr) == (0, "")
    made = {path.stem for path in (site / "book").glob("*.html")}
    assert made == {"one", "two"}
    assert "up to date" in book.build("book/two").stdout
    book.chapter("two", "2", prose="[On](three.ipynb) ![](lost.png)")
    done = book.build("book/two")
    assert "lost.png" in done.stderr
    assert "three" not in done.stderr
