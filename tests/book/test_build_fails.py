"""`make book` on a tiny book: it fails when it must, and shows nothing stale.

Guards against the three ways in which a Jupyter Book build passes while wrong: a failing cell that
is only a warning, a warning that the second run forgets, outputs cached from code that has changed.
"""

import subprocess
import sys
from pathlib import Path

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


class TinyBook:
    """Two chapters and a package of one line, built with the book's own settings and build tool."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for folder in ("book", "src"):
            (root / folder).mkdir()
        settings = yaml.safe_load((ROOT / "_config.yml").read_text())
        kept = {key: settings[key] for key in SETTINGS}
        self.write("_config.yml", yaml.safe_dump(kept))
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
    assert book.build().returncode == 0
    assert book.shows("the word is second")


def test_broken_code_fails_the_build(book: TinyBook) -> None:
    book.write("src/tiny.py", "WORD = \n")
    assert book.build().returncode != 0
    book.write("src/tiny.py", "WORD = 'second'\n")
    assert book.build().returncode == 0


def test_a_failing_cell_fails_the_build_every_time(book: TinyBook) -> None:
    book.chapter("two", "raise RuntimeError('a chapter that does not run')")
    for _ in range(2):
        done = book.build()
        assert done.returncode != 0
        assert "a chapter that does not run" in done.stdout + done.stderr
    book.chapter("two")


def test_a_warning_fails_the_build_every_time(book: TinyBook) -> None:
    book.chapter("two", prose="[nowhere](lost.md)")
    for _ in range(2):
        assert book.build().returncode != 0
    book.chapter("two")
