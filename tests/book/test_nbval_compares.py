"""nbval, as the book runs it, compares the text of tagged cells and only that."""

import shutil
import subprocess
import sys
from pathlib import Path

from nbformat.v4 import new_code_cell, new_notebook, new_output
from tools.book import notebooks

CONFTEST = Path(__file__).resolve().parents[2] / "book" / "conftest.py"
TAGGED = {"tags": ["nbval-check-output"]}
RICH = """class Rich:
    def __repr__(self):
        return "text"

    def _repr_html_(self):
        return "<b>never stored</b>"


Rich()"""


def compared(source, text):
    output = new_output("execute_result", data={"text/plain": text}, execution_count=1)
    return new_code_cell(source, outputs=[output], metadata=TAGGED)


def test_text_of_rich_output_is_compared_and_a_difference_fails(tmp_path):
    shutil.copy(CONFTEST, tmp_path)
    cells = [compared(RICH, "text"), compared("Rich()", "other text"), new_code_cell("3")]
    notebooks.save(new_notebook(cells=cells), tmp_path / "00-page.ipynb")
    words = ["--nbval-lax", "--nbval-current-env", "-p", "no:cacheprovider", "-q", "."]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "1 failed, 2 passed" in done.stdout, done.stdout
    assert "FAILED 00-page.ipynb::Cell 1" in done.stdout
