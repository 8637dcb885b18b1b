"""What the trials of Binder and Colab must notice in a chapter that ran elsewhere."""

import nbformat
from tools.book.notebook_form import CHECKED
from tools.verify import elsewhere
from tools.verify.compared import changed_cells

from transformer.attention import scaled_dot_product_attention
from walkthrough import show
from walkthrough.page.links import BRANCH

V4 = nbformat.v4


def notebook(*outputs, tags=()):
    cell = V4.new_code_cell("1", metadata={"tags": list(tags)}, outputs=list(outputs))
    return V4.new_notebook(cells=[cell])


def stream(text):
    return V4.new_output("stream", text=text)


def result(**data):
    kinds = {name.replace("_", "/"): value for name, value in data.items()}
    return V4.new_output("execute_result", data=kinds)


def listing(page_change=lambda page: page):
    source = show(scaled_dot_product_attention)
    return notebook(result(text_plain=repr(source), text_html=page_change(source._repr_html_())))


def test_a_compared_cell_that_prints_something_else_is_named():
    before = notebook(stream("0.71\n"), tags=[CHECKED])
    (line,) = changed_cells(before, notebook(stream("0.72\n")))
    assert "code cell 1" in line
    assert "'0.72'" in line


def test_colours_pieces_and_pictures_are_not_text():
    before = notebook(stream("a\nb\n"), tags=[CHECKED])
    pieces = notebook(stream("a\n"), stream("\x1b[31mb\x1b[0m\n"), result(text_html="<b>x</b>"))
    assert changed_cells(before, pieces) == []


def test_a_table_counts_by_its_text():
    before = notebook(result(text_plain="Jane  0.7"), tags=[CHECKED])
    table = "<table><td>0.7</td></table>"
    assert not changed_cells(before, notebook(result(text_plain="Jane  0.7", text_html=table)))
    assert changed_cells(before, notebook(result(text_plain="Jane  0.8", text_html=table)))


def test_other_cells_are_not_compared():
    assert changed_cells(notebook(stream("1")), notebook(stream("2"))) == []


def at_commit(commit):
    return lambda page: page.replace(f"/blob/{BRANCH}/", f"/blob/{commit}/")


def test_a_link_to_another_commit_is_named():
    commit = elsewhere.said_by("git", "rev-parse", "HEAD")
    assert elsewhere.wrong_links(listing(at_commit(commit)), commit) == []
    (line,) = elsewhere.wrong_links(listing(at_commit("a" * 40)), commit)
    assert line.startswith("src/transformer/attention.py is at aaaa")


def test_a_listing_without_a_link_is_named():
    unlinked = listing(lambda page: page.replace("<a href", "<a title"))
    assert elsewhere.wrong_links(unlinked, "HEAD") == ["1 of 1 listings have no link"]
