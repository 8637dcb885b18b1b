"""What the trials of Binder and Colab must notice in a chapter that ran elsewhere."""

import inspect

import nbformat
import pytest
from tools.verify import places

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
    before = notebook(stream("0.71\n"), tags=[places.COMPARED])
    (line,) = places.changed_cells(before, notebook(stream("0.72\n")))
    assert "code cell 1" in line
    assert "'0.72'" in line


def test_colours_pieces_and_pictures_are_not_text():
    before = notebook(stream("a\nb\n"), tags=[places.COMPARED])
    pieces = notebook(stream("a\n"), stream("\x1b[31mb\x1b[0m\n"), result(text_html="<b>x</b>"))
    assert places.changed_cells(before, pieces) == []


def test_a_table_counts_by_its_text():
    before = notebook(result(text_plain="Jane  0.7"), tags=[places.COMPARED])
    table = "<table><td>0.7</td></table>"
    assert not places.changed_cells(
        before, notebook(result(text_plain="Jane  0.7", text_html=table))
    )
    assert places.changed_cells(before, notebook(result(text_plain="Jane  0.8", text_html=table)))


def test_other_cells_are_not_compared():
    assert places.changed_cells(notebook(stream("1")), notebook(stream("2"))) == []


def at_commit(commit):
    return lambda page: page.replace(f"/blob/{BRANCH}/", f"/blob/{commit}/")


def test_a_link_to_other_lines_or_another_commit_is_named():
    commit = places.commit_of("HEAD")
    _, first = inspect.getsourcelines(scaled_dot_product_attention)

    def elsewhere(page):
        return at_commit(commit)(page).replace(f"#L{first}-", f"#L{first + 1}-")

    assert places.wrong_links(listing(at_commit("a" * 40)), commit)[1]
    assert places.wrong_links(listing(elsewhere), commit) == (
        1,
        [f"other code stands in src/transformer/attention.py {first + 1} to {_last()}"],
    )


def _last():
    lines, first = inspect.getsourcelines(scaled_dot_product_attention)
    return first + len(lines) - 1


def test_listings_in_a_drawing_are_compared_as_the_page_shows_them():
    """The drawing of chapter 09 holds listings, and its text is not their code."""
    commit = places.commit_of("HEAD")
    page = at_commit(commit)(show(scaled_dot_product_attention)._repr_html_())
    drawing = f"<svg></svg>{page}{page}"
    assert places.wrong_links(notebook(result(text_plain="<HTML>", text_html=drawing)), commit) == (
        2,
        [],
    )
    other = drawing.replace("softmax", "softmin", 1)
    assert places.wrong_links(notebook(result(text_plain="<HTML>", text_html=other)), commit)[1]


def test_a_listing_without_a_link_is_named():
    unlinked = listing(lambda page: page.replace("<a href", "<a title"))
    assert places.wrong_links(unlinked, "HEAD") == (1, ["1 of 1 listings have no link"])


def test_chapters_are_chosen_by_number():
    assert [name[:2] for name in places.chosen(["02", "14"])] == ["02", "14"]
    assert len(places.chosen([])) >= 16
    with pytest.raises(SystemExit, match="no chapter 99"):
        places.chosen(["02", "99"])


def test_the_repositorys_own_python_does_not_shine_through(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "/somewhere/src")
    environ = places.clean_environ(HOME="/home/new")
    assert "PYTHONPATH" not in environ
    assert environ["HOME"] == "/home/new"
