"""The formatter keeps what belongs in git and nothing else, and a test rejects the rest."""

import json

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output, new_raw_cell
from soundness import assert_check_is_sound
from tools.book import notebooks
from tools.book.notebook_form import NotebookError, as_text, canonical, lint, read_text

TAGGED = {"tags": ["nbval-check-output"]}
PICTURE = {"image/png": "aGk=", "text/html": "<b>1</b>", "text/plain": "1"}


def cells_of(*cells):
    return canonical(new_notebook(cells=list(cells))).cells


def test_text_stays_only_in_compared_cells():
    printed = [new_output("stream", name="stdout", text="1\n")]
    compared, plain = cells_of(
        new_code_cell("print(1)", outputs=printed, metadata=TAGGED, execution_count=7),
        new_code_cell("print(1)", outputs=printed, execution_count=8),
    )
    assert compared.outputs[0].text == "1\n"
    assert compared.execution_count == 1, "nbval ignores outputs of a cell without a count"
    assert plain.outputs == []
    assert plain.execution_count is None


def test_rich_outputs_and_stderr_go():
    outputs = [
        new_output("execute_result", data=PICTURE, execution_count=3),
        new_output("stream", name="stderr", text="UserWarning"),
    ]
    (cell,) = cells_of(new_code_cell("1", outputs=outputs, metadata=TAGGED))
    assert [output.data for output in cell.outputs] == [{"text/plain": "1"}]


def test_metadata_is_reduced_to_what_the_book_uses():
    notebook = new_notebook(
        cells=[new_code_cell("1", metadata={"collapsed": True, "tags": ["b", "a"]})],
        metadata={
            "kernelspec": {"name": "my-env", "display_name": "My env"},
            "language_info": {"name": "python", "version": "3.11.9"},
            "widgets": {},
            "myst": {"html_meta": {"description": "A page."}},
        },
    )
    form = canonical(notebook)
    assert set(form.metadata) == {"kernelspec", "language_info", "myst"}
    assert form.metadata.kernelspec.name == "python3"
    assert form.metadata.language_info == {"name": "python"}
    assert form.cells[0].metadata == {"tags": ["a", "b"]}


def test_ids_say_where_a_cell_stands_and_stay():
    head, text, code, named = cells_of(
        new_markdown_cell("# Title", id="0f3a9c1e"),
        new_markdown_cell("## By hand", id="1f3a9c1e"),
        new_code_cell("1", id="5c1d6b9e-6f3e-4a0e-9f43-0123456789ab"),
        new_code_cell("2", id="the-scores"),
    )
    assert [head.id, text.id, code.id, named.id] == [
        "head",
        "by-hand",
        "by-hand-code",
        "the-scores",
    ]


def test_a_heading_or_a_solution_inside_a_cell_is_named_but_not_inside_fences():
    text = "# T\ntext\n## A\n```python\n## no heading\n```\n:::{solution} x\n:::"
    found = lint(canonical(new_notebook(cells=[new_markdown_cell(text, id="a")])))
    assert found == [
        f"cell a: {line!r} starts a cell of its own" for line in ("## A", ":::{solution} x")
    ]


def test_what_the_site_folds_is_folded_in_jupyterlab():
    cells = cells_of(
        new_code_cell("0"),
        new_code_cell("1", metadata={"tags": ["solution"]}),
        new_code_cell("import os"),
        new_code_cell("3", metadata={"tags": ["remove-cell"]}),
    )
    folded = [cell.metadata.get("jupyter", {}).get("source_hidden", False) for cell in cells]
    assert folded == [False, True, True, True]
    assert [cell.metadata.get("cellView") for cell in cells] == [None, "form", None, None]


def test_the_form_is_stable():
    notebook = new_notebook(cells=[new_markdown_cell("# T  \n\n"), new_code_cell("f( 1 )")])
    once = as_text(canonical(notebook))
    assert as_text(canonical(read_text(once))) == once
    assert once.endswith("}\n")


def test_a_hidden_output_is_named():
    (line,) = lint(canonical(new_notebook(cells=[new_code_cell("plot();")])))
    assert "trailing `;`" in line


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"cells": 3}'])
def test_what_is_no_notebook_is_rejected(text):
    with pytest.raises(NotebookError, match="not a notebook"):
        read_text(text)


def test_raw_cells_are_rejected():
    notebook = new_notebook(cells=[new_raw_cell("x", id="a")])
    with pytest.raises(NotebookError, match="code or markdown; a is 'raw'"):
        canonical(read_text(as_text(notebook)))


def test_repeated_ids_are_told_apart():
    notebook = new_notebook(cells=[new_code_cell("1", id="one"), new_code_cell("2", id="two")])
    again = read_text(as_text(notebook).replace('"two"', '"one"'))
    assert [cell.id for cell in canonical(again).cells] == ["one", "head-code"]


def counted(cell):
    cell["execution_count"] = 3


def with_output(cell):
    cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": ["1\n"]}]


def with_metadata(cell):
    cell["metadata"] = {"scrolled": True}


@pytest.mark.parametrize("spoil", [counted, with_output, with_metadata])
def test_what_is_not_canonical_is_named_and_format_repairs_it(tmp_path, spoil):
    path = tmp_path / "00-page.ipynb"
    notebooks.save(new_notebook(cells=[new_markdown_cell("# T"), new_code_cell("print(1)")]), path)
    assert notebooks.problems(path) == []
    content = json.loads(path.read_text())
    spoil(content["cells"][1])
    path.write_text(json.dumps(content))
    assert "not canonical: run `make format`" in notebooks.problems(path)[-1]
    assert notebooks.main(["format", str(path)]) == 0
    assert notebooks.problems(path) == []


def test_new_writes_every_part_and_the_room(tmp_path, monkeypatch):
    from chapter_rules import opens_with_a_question

    project = tmp_path / "pyproject.toml"
    project.write_text('layers = [\n    """\n    ch02_masks |\n    ch14_run\n    """,\n]\n')
    monkeypatch.setattr(notebooks, "ROOT", tmp_path)
    page, source, tests = notebooks.new("05", "feed-forward", None)
    assert opens_with_a_question(notebooks.load(page)) == []
    assert notebooks.load(page).metadata["form"] == "question"
    assert notebooks.load(page).cells[0].source.startswith("# Feed forward?")
    assert source == tmp_path / "src" / "walkthrough" / "ch05_feed_forward"
    found = {path.name for path in source.iterdir()}
    assert found == {"__init__.py", "checks.py", "experiments.py", "figures.py", "predictions.py"}
    assert "walkthrough.ch05_feed_forward import checks" in (tests / "test_checks.py").read_text()
    rooms = "    ch02_masks |\n    ch05_feed_forward |\n    ch14_run\n"
    assert project.read_text() == f'layers = [\n    """\n{rooms}    """,\n]\n'
    with pytest.raises(NotebookError, match="exists"):
        notebooks.new("05", "feed-forward", None)


def test_the_check_of_a_new_room_is_sound(tmp_path, monkeypatch):
    (tmp_path / "pyproject.toml").write_text("    ch02_masks\n")
    monkeypatch.setattr(notebooks, "ROOT", tmp_path)
    _, source, _ = notebooks.new("05", "feed-forward", None)
    names = {}
    exec((source / "checks.py").read_text(), names)
    assert_check_is_sound(names["name"])
    exec((source / "predictions.py").read_text(), names)
    assert names["name"].name == "05-name"


@pytest.mark.parametrize(("number", "slug"), [("5", "x"), ("05", "Feed Forward"), ("05", "a_b")])
def test_new_wants_a_number_and_a_slug(number, slug):
    with pytest.raises(NotebookError, match="expected NN and a-slug-with-hyphens"):
        notebooks.new(number, slug, None)


def test_executing_a_warning_in_a_compared_cell_is_an_error(tmp_path):
    path = tmp_path / "00-page.ipynb"
    source = "import sys\n\nprint(1)\nprint('careful', file=sys.stderr)"
    notebooks.save(new_notebook(cells=[new_code_cell(source, metadata=TAGGED)]), path)
    assert notebooks.main(["execute", str(path)]) == 1


def test_executing_stores_the_text_of_compared_cells(tmp_path):
    path = tmp_path / "00-page.ipynb"
    cells = [new_code_cell("print(1)"), new_code_cell("print(2)", metadata=TAGGED)]
    notebooks.save(new_notebook(cells=cells), path)
    assert notebooks.main(["execute", str(path)]) == 0
    plain, compared = notebooks.load(path).cells
    assert not plain.outputs
    assert compared.outputs[0].text == "2\n"
    assert notebooks.problems(path) == []
