"""Progress is what the stored verdicts say, in both kinds of notebook, one folder a reader."""

import csv
import io

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

import walkthrough
from walkthrough.checking.verdict import Verdict
from walkthrough.progress import answers
from walkthrough.progress.__main__ import main

MYST = ("::::{exercise} {title}\n:label: ex\n::::", ":::{solution} ex\nSo.\n:::")
PLAIN = ("**Exercise: {title}**\n\nDo.", "<details><summary>Solution</summary>\n\nSo.</details>")


def checked(verdict):
    output = new_output("execute_result", data={"text/plain": repr(verdict)})
    return new_code_cell("check(f)", outputs=[output] if verdict is not None else [])


def save(folder, name, form, *verdicts):
    """A notebook with an exercise for each list of verdicts; its solutions are right."""
    cells = []
    for number, given in enumerate(verdicts):
        cells.append(new_markdown_cell(form[0].replace("{title}", f"Task {number}")))
        cells += [new_code_cell("def f(): ..."), *map(checked, given)]
        cells += [new_markdown_cell(form[1]), checked(Verdict("right", "f: right"))]
    folder.mkdir(exist_ok=True)
    nbformat.write(new_notebook(cells=cells), folder / f"{name}.ipynb")


RIGHT, WRONG = Verdict("right", "f: right"), Verdict("wrong", "a sum over rows")
NOTHING = Verdict("nothing yet", "write the function")


@pytest.mark.parametrize("form", [MYST, PLAIN], ids=["source", "plain"])
def test_the_last_verdict_counts_and_a_solution_does_not(tmp_path, form):
    save(tmp_path, "02-a", form, [WRONG, RIGHT], [RIGHT, WRONG], [NOTHING], [None])
    found = [answer.status for answer in answers(tmp_path / "02-a.ipynb")]
    assert found == ["right", "wrong", "nothing yet", "not run"]


def test_a_reader_sees_what_is_left(tmp_path):
    save(tmp_path, "02-a", MYST, [RIGHT], [WRONG])
    save(tmp_path, "03-b", MYST, [RIGHT])
    assert repr(walkthrough.progress(tmp_path)) == (
        "02-a: 1 of 2 right; left: Task 1 (wrong)\n03-b: 1 of 1 right"
    )
    assert "no notebook" in repr(walkthrough.progress(tmp_path / "elsewhere"))


def test_a_teacher_gets_a_table_of_all_folders(tmp_path, capsys):
    for reader, verdict in {"ann": RIGHT, "bo": WRONG}.items():
        save(tmp_path / reader, "02-a", MYST, [verdict])
    assert main([str(tmp_path / "ann"), str(tmp_path / "bo")]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [(row["folder"], row["exercise"], row["status"]) for row in rows] == [
        ("ann", "Task 0", "right"),
        ("bo", "Task 0", "wrong"),
    ]
    assert main([]) == main([str(tmp_path / "nobody")]) == 2


def test_what_is_no_notebook_is_said(tmp_path):
    (tmp_path / "x.ipynb").write_text("{}", encoding="utf-8")
    with pytest.raises(ValueError, match="no notebook"):
        answers(tmp_path / "x.ipynb")
