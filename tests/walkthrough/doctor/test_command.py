"""The command: a file, a name in it, a folder of files, and what cannot be examined."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest
from variants import SOURCE

from walkthrough.doctor import CannotCallError, examine
from walkthrough.doctor.__main__ import main
from walkthrough.doctor.loading import NoModelError, load

LEAKS = SOURCE.replace(".tril()", "")
TRAINS = "import a_package_that_is_not_there\nfor step in iter(int, 1):\n    pass\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "right.py").write_text(SOURCE, encoding="utf-8")
    (tmp_path / "leaks.py").write_text(TRAINS + LEAKS, encoding="utf-8")
    (tmp_path / "hangs.py").write_text("import time\n\nx = time.sleep(600)\n", encoding="utf-8")
    (tmp_path / "empty.py").write_text("import a_package_that_is_not_there\n", encoding="utf-8")
    return tmp_path


def test_a_file_is_examined_and_the_status_tells_of_bugs(folder, capsys):
    assert main([str(folder / "right.py")]) == 0
    assert "none of the" in capsys.readouterr().out
    assert main([f"{folder / 'leaks.py'}:Plain", "--json"]) == 1  # its loop is not run
    assert json.loads(capsys.readouterr().out)["bugs"][0]["name"] == "future"


def test_a_notebook_is_a_file_too(tmp_path, capsys):
    cells = [{"cell_type": "code", "source": ["%pip install torch\n", LEAKS]}]
    path = tmp_path / "notebook.ipynb"
    path.write_text(json.dumps({"cells": cells}), encoding="utf-8")
    assert main([str(path), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["bugs"][0]["name"] == "future"


def test_a_file_may_be_called_as_a_package_is(tmp_path, capsys, monkeypatch):
    """`d2l/torch.py` is: it must not stand in torch's place."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    path = tmp_path / "torch.py"
    path.write_text(SOURCE, encoding="utf-8")
    assert main([str(path)]) == 0
    assert sys.modules["torch"].__file__ != str(path)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("empty.py", "No module named 'a_package_that_is_not_there'"),
        ("missing.py", "FileNotFoundError"),
        ("right.py:Nothing", "defines no 'Nothing'"),
    ],
)
def test_what_cannot_be_examined_is_told(folder, capsys, name, words):
    assert main([str(folder / name)]) == 2
    assert words in capsys.readouterr().err


def test_what_the_reader_has_to_write_is_said_with_what_was_tried(folder):
    (model, *_) = load(folder / "right.py", "Attention"), None
    with pytest.raises(CannotCallError, match=r"(?s)ids \(3, 6\) and \(3, 7\).*def call\(source"):
        examine(next(iter(model)))


def test_a_folder_has_a_row_for_each_file_and_none_hangs(folder):
    out = folder / "out.csv"
    command = [sys.executable, "-m", "walkthrough.doctor", "--folder", str(folder)]
    done = subprocess.run(
        [*command, "--csv", str(out), "--seconds", "20"], capture_output=True, text=True
    )
    assert "The code of every file" in done.stderr
    assert done.returncode == 1
    with out.open(encoding="utf-8", newline="") as file:
        rows = {row["file"]: row for row in csv.DictReader(file)}
    assert rows["right.py"]["bugs"] == ""
    assert rows["leaks.py"]["bugs"] == "future"
    assert "stopped after 20 s" in rows["hangs.py"]["said"]
    assert rows["empty.py"]["status"] == "not examined"


def test_a_readers_package_may_be_called_as_ours_is():
    """Many are called `transformer`, and import from it by that name."""
    script = "import sys, walkthrough.doctor.__main__; print('transformer' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"


def test_a_name_is_needed_for_one_file_only(capsys):
    with pytest.raises(SystemExit):
        main([])
    assert "either FILE[:NAME] or --folder DIR" in capsys.readouterr().err
    assert Path(__file__).exists()
    assert NoModelError.__doc__
