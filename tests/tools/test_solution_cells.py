"""The code of a solution stands inside the box of its text."""

from types import SimpleNamespace

import pytest
from docutils import nodes
from docutils.utils import new_document
from sphinx_exercise.nodes import exercise_enumerable_node, solution_node
from tools.site.page_form import SolutionCells


def document(*parts):
    made = new_document("page")
    made.settings.env = SimpleNamespace(docname="page")
    made += parts
    return made


def box(kind, name):
    return kind("", nodes.section(ids=["content"]), ids=[name])


def cell(text, *classes):
    return nodes.container("", nodes.literal(text, text), classes=["cell", *classes])


def test_code_moves_into_the_solution_before_it_in_order_and_ids_are_unique():
    page = document(
        box(exercise_enumerable_node, "ex-a"),
        cell("stub"),
        box(solution_node, "solution-a"),
        cell("first", "tag_solution"),
        cell("second", "tag_solution"),
        cell("after"),
    )
    SolutionCells(page).apply()
    exercise, stub, solution, after = page.children
    assert [stub.astext(), after.astext()] == ["stub", "after"]
    assert [part.astext() for part in solution[0]] == ["first", "second"]
    assert exercise[0]["ids"] + solution[0]["ids"] == ["ex-a-content", "solution-a-content"]


def test_code_that_follows_no_solution_is_an_error():
    with pytest.raises(ValueError, match="after no text"):
        SolutionCells(document(cell("lost", "tag_solution"))).apply()
