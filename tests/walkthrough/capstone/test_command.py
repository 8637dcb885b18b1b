"""The command: new, check, grade and their exit statuses."""

import csv
import json

import pytest
from styles import RIGHT, exchanged

from walkthrough.capstone.__main__ import main, pairs_of
from walkthrough.capstone.slips import SOLUTION


def test_new_then_check(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["new"]) == 0
    assert main(["new"]) == 2
    assert "left as it is" in capsys.readouterr().err
    assert main(["check"]) == 0
    assert "· 1 Scaled dot-product attention" in capsys.readouterr().out
    assert main(["check", "other.py"]) == 2
    assert "other.py is not there" in capsys.readouterr().err


def test_the_status_tells_of_what_is_wrong_and_json_has_it(tmp_path, capsys):
    path = tmp_path / "mine.py"
    path.write_text(exchanged(("torch.relu(", "(")), encoding="utf-8")
    assert main(["check", str(path), "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["walk"]["first"] == "encoder layer 1, feed-forward network"
    assert "forgets the ReLU" in told["walk"]["cause"]


def test_a_folder_is_graded_with_a_hidden_set(tmp_path, capsys):
    folder, out, pairs = tmp_path / "handed in", tmp_path / "out.csv", tmp_path / "pairs.tsv"
    folder.mkdir()
    assert main(["grade", str(folder)]) == 2
    assert "has no .py" in capsys.readouterr().err
    assert main(["grade", str(tmp_path / "nowhere")]) == 2
    (folder / "ada.py").write_text(RIGHT, encoding="utf-8")
    (folder / "bob.py").write_text("def attend(:\n", encoding="utf-8")
    pairs.write_text(
        "Jane visite l'Afrique en septembre.\tJane visits Africa in September.\n", "utf-8"
    )
    options = ["--held-out", str(pairs), "--csv", str(out)]
    assert main(["grade", str(folder), *options]) == 1
    with out.open(encoding="utf-8", newline="") as file:
        rows = {row["file"]: row for row in csv.DictReader(file)}
    assert rows["ada.py"]["right"] == "10"
    assert rows["ada.py"]["held out"] == "1.0"
    assert rows["ada.py"]["weights"] == "book's"
    assert "SyntaxError" in rows["bob.py"]["said"]


def test_a_hidden_set_has_a_tab_in_each_line(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text("Jane dort.\tJane sleeps.\nPaul dort.\n", encoding="utf-8")
    with pytest.raises(ValueError, match="line 2: a pair has one tab, got 0"):
        pairs_of(path)
    assert SOLUTION.exists()
