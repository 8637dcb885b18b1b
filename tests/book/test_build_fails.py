"""`make book` on a tiny book: it fails when it must, shows nothing stale, and runs side by side.

Guards against the four ways in which a Jupyter Book build passes while wrong: a failing cell that
is only a warning, a warning that the second run forgets, outputs cached from code that has changed,
a cell that never ends.
"""

import subprocess
import sys
from pathlib import Path

import execute
import nbformat
import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = ("title", "only_build_toc_files", "exclude_patterns", "execute")

pytestmark = pytest.mark.slow

CELL = """
import sys
from pathlib import Path

sys.path.insert(0, "../src")
import tiny

with Path("../runs-{name}").open("a") as runs:
    runs.write("run ")
print("the word is", tiny.WORD)
"""

MEETING = """
import time
from pathlib import Path

Path("../here-{name}").touch()
for _ in range(3000):
    if len(list(Path("..").glob("here-*"))) == 2:
        break
    time.sleep(0.1)
else:
    raise RuntimeError("the other chapter does not run")
"""


class TinyBook:
    """Two chapters and a package of one line, built with the book's own settings and build tool."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for folder in ("book", "src"):
            (root / folder).mkdir()
        self.settings()
        self.write("_toc.yml", "format: jb-book\nroot: book/one\nchapters:\n- file: book/two\n")
        self.write("requirements.txt", "-e .\n")
        self.write("src/tiny.py", "WORD = 'first'\n")
        self.chapter("one")
        self.chapter("two")

    def write(self, name: str, text: str) -> None:
        (self.root / name).write_text(text)

    def chapter(self, name: str, code: str = CELL, prose: str = "Text.") -> None:
        cells = [
            nbformat.v4.new_markdown_cell(f"# {name}\n\n{prose}"),
            nbformat.v4.new_code_cell(code.replace("{name}", name)),
        ]
        kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
        notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
        nbformat.write(notebook, self.root / "book" / f"{name}.ipynb")

    def settings(self, **execute: object) -> None:
        settings = yaml.safe_load((ROOT / "_config.yml").read_text())
        kept = {key: settings[key] for key in SETTINGS}
        kept["execute"] |= execute
        self.write("_config.yml", yaml.safe_dump(kept))

    def build(self) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(ROOT / "tools" / "build.py"), "--root", str(self.root)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def build_without_our_tool(self) -> None:
        tool = Path(sys.executable).with_name("jupyter-book")
        command = [str(tool), "build", str(self.root), "--all", "-W", "--keep-going"]
        subprocess.run(command, capture_output=True, check=True)

    def runs(self, name: str) -> int:
        return (self.root / f"runs-{name}").read_text().count("run")

    def shows(self, words: str) -> bool:
        return words in (self.root / "_build/html/book/one.html").read_text()


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> TinyBook:
    tiny = TinyBook(tmp_path_factory.mktemp("tiny-book"))
    first = tiny.build()
    assert first.returncode == 0, first.stdout + first.stderr
    return tiny


def test_unchanged_nothing_runs(book: TinyBook) -> None:
    before = book.runs("one")
    assert "up to date" in book.build().stdout
    assert book.runs("one") == before


def test_an_edited_chapter_runs_alone(book: TinyBook) -> None:
    one, two = book.runs("one"), book.runs("two")
    book.chapter("two", CELL + "\nprint('edited')")
    assert book.build().returncode == 0
    assert (book.runs("one"), book.runs("two")) == (one, two + 1)


def test_code_that_changed_cannot_hide_behind_the_cache(book: TinyBook) -> None:
    book.write("src/tiny.py", "WORD = 'second'\n")
    book.build_without_our_tool()
    assert book.shows("the word is first"), "the trap that tools/build.py is there for has gone"
    one, two = book.runs("one"), book.runs("two")
    assert book.build().returncode == 0
    assert book.shows("the word is second")
    # Once each: Jupyter Book has found all outputs, and run nothing by itself.
    assert (book.runs("one"), book.runs("two")) == (one + 1, two + 1)


def test_broken_code_fails_the_build(book: TinyBook) -> None:
    book.write("src/tiny.py", "WORD = \n")
    assert book.build().returncode != 0
    book.write("src/tiny.py", "WORD = 'second'\n")
    assert book.build().returncode == 0


def test_a_failing_cell_fails_the_build_every_time_and_stops_no_other(book: TinyBook) -> None:
    before = book.runs("one")
    book.chapter("one", CELL + "\nprint('edited')")
    book.chapter("two", "raise RuntimeError('a chapter that ' + 'does not run')")
    for _ in range(2):
        done = book.build()
        assert done.returncode != 0
        assert "a chapter that does not run" in done.stdout + done.stderr
        assert "Traceback" in done.stdout + done.stderr
    assert book.runs("one") == before + 1
    book.chapter("one")
    book.chapter("two")


def test_dead_kernels_and_cells_that_take_too_long_fail_the_build_every_time(
    book: TinyBook,
) -> None:
    book.settings(timeout=20)
    book.chapter("one", "import os\n\nos._exit(1)")
    book.chapter("two", "import time\n\ntime.sleep(300)")
    for _ in range(2):
        done = book.build()
        assert done.returncode != 0
        assert "one.ipynb failed: DeadKernelError" in done.stderr
        assert "two.ipynb failed: CellTimeoutError" in done.stderr
    book.settings()
    book.chapter("one")
    book.chapter("two")


@pytest.mark.skipif(execute.at_a_time() < 2, reason="one processor, or little memory")
def test_two_chapters_run_at_the_same_time(book: TinyBook) -> None:
    for name in ("one", "two"):
        book.chapter(name, MEETING)
    done = book.build()
    assert done.returncode == 0, done.stderr
    assert "Running 2 of 2 chapters, 2 at a time" in done.stdout
    for name in ("one", "two"):
        book.chapter(name)


def test_a_warning_fails_the_build_every_time(book: TinyBook) -> None:
    book.chapter("two", prose="[nowhere](lost.md)")
    for _ in range(2):
        assert book.build().returncode != 0
    book.chapter("two")
