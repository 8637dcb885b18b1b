"""Plain notebooks hold no markup that only MyST reads, and say what the chapters say."""

import ast
import re
from itertools import count
from pathlib import Path

import altair
import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from tools.site.plain_notebooks import COLAB, INSTALL, SITE, draw, lead_to_branch, numbered, plain
from tools.site.plain_notebooks import plain_notebook as made

from walkthrough.drawing.still import canvas, still

ROOT = Path(__file__).resolve().parents[2]
RAW = re.compile(r"^.*(?::{3,}|\{[\w:-]+\}`|^ *>? *:[\w-]+: |\]\{[.#]).*$", re.MULTILINE)
VEGA = ROOT / "book" / "web" / "node_modules" / "vega-lite"


def prose(notebook):
    """Its Markdown, without code."""
    text = "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    return re.sub(r"^(`{3,}).*?^\1$|`[^`\n]*`", "", text, flags=re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("path", sorted((ROOT / "book").glob("*.ipynb")), ids=lambda p: p.stem)
def test_nothing_raw_is_left_of_a_chapter(path):
    chapter = nbformat.read(path, as_version=4)
    text = prose(made(chapter, path.stem))
    assert RAW.findall(text) == []
    assert [link for link in re.findall(r"\]\(([^)]*)\)", text) if "://" not in link] == []
    assert text.count("<details>") == text.count("</details>") >= prose(chapter).count("{dropdown}")
    assert len(re.findall(r"\w+", text)) > 0.9 * len(re.findall(r"\w+", prose(chapter)))


def test_raw_markup_is_noticed():
    raw = ":::{note}\n:class: paper\nA {term}`head <heads>` [red]{.r}"
    assert len(RAW.findall(raw)) == 3


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (":::{warning}\nNo.\n:::", "> **Warning**\n>\n> No."),
        (":::{admonition} Paper, §3\n:class: paper\n\nYes.\n:::", "> **Paper, §3**\n>\n> Yes."),
        (
            ":::{dropdown} Why `d_k`?\nSo.\n:::",
            "<details><summary>Why <code>d_k</code>?</summary>\n\nSo.\n\n</details>",
        ),
        ("A {term}`head` and {term}`heads <head>`.", "A head and heads."),
        ("[there](03-masks.ipynb#a)", f"[there]({SITE}03-masks.html#a)"),
        ("[here](#a)", f"[here]({SITE}02-x.html#a)"),
        ("```python\n:::{note}\n```", "```python\n:::{note}\n```"),
    ],
)
def test_markup_becomes_plain(text, expected):
    assert plain(text, "02-x") == expected


def test_boxes_may_stand_in_boxes():
    text = "::::{exercise} Add\n:label: ex\n\nDo.\n\n:::{dropdown} Hint\nSum.\n:::\n::::"
    lines = [line for line in plain(text, "x").splitlines() if line]
    hint = ["<details><summary>Hint</summary>", "Sum.", "</details>"]
    assert lines == ["**Exercise: Add**", "Do.", *hint]


def test_exercises_are_numbered_by_chapter():
    numbers = count(1)
    first, second = (
        plain(numbered(f":::{{exercise}} {title}\n:::", "book/02-x", numbers), "02-x").strip()
        for title in ("Add", "Add 2")
    )
    assert (first, second) == ("**Exercise 2.1: Add**", "**Exercise 2.2: Add 2**")


def test_a_directive_without_a_plain_form_is_an_error():
    with pytest.raises(ValueError, match="glossary"):
        plain(":::{glossary}\n:::", "x")


def page(*outputs, **metadata):
    cells = [
        new_markdown_cell("# Title\n\nText."),
        new_code_cell("1", outputs=list(outputs), metadata=metadata),
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return new_notebook(cells=cells, metadata={"kernelspec": kernel})


def test_the_first_code_installs_where_the_book_is_missing_and_is_no_more_than_that():
    title, install, code = made(page(), "02-x").cells
    assert f"({COLAB}02-x.ipynb)" in title.source
    assert install.source == INSTALL
    guarded = ast.parse(INSTALL.replace("%pip", "pass  #")).body[-1]
    assert isinstance(guarded, ast.If)
    assert code.source == "1"


def test_what_is_folded_stays_folded_and_what_is_not_for_readers_shows_nothing():
    hidden = {"jupyter": {"source_hidden": True}, "tags": ["remove-cell"]}
    cell = made(page(new_output("stream", text="1"), **hidden), "x").cells[-1]
    assert cell.metadata == {"cellView": "form", "jupyter": {"source_hidden": True}}
    assert cell.outputs == []


def shown(thing, **bundle):
    data = {"text/html": thing._repr_html_(), "text/plain": repr(thing)} if thing else bundle
    return new_output("execute_result", data=data)


@pytest.mark.skipif(not VEGA.exists(), reason="`make book` brings Vega")
def test_charts_and_stills_become_pictures():
    chart = altair.Chart(altair.InlineData([{"a": 1}])).mark_bar().encode(x="a:Q")
    bundle = {"text/html": chart._repr_mimebundle_()["text/html"], "text/plain": "Chart"}
    with canvas(200, 100) as (figure, axes):
        axes.plot([0, 1])
    drawn = page(
        shown(None, **bundle),
        shown(still(figure, alt="a line")),
    )
    draw([drawn], ROOT)
    for output in drawn.cells[1].outputs:
        picture = output.data["image/svg+xml"]
        assert picture.startswith("<svg")
        assert "background:#ffffff" in picture
        assert not re.search(r"currentColor|var\(|Canvas", picture)
        assert "text/html" not in output.data


def test_the_colab_button_leads_to_the_branch():
    buttons = [{"text": "Binder", "url": "b"}, {"text": "Colab", "url": "c"}]
    context = {"header_buttons": [{"buttons": buttons}, {"text": "other"}]}
    lead_to_branch(None, "book/02-x", "", context, None)
    assert [button["url"] for button in buttons] == ["b", f"{COLAB}02-x.ipynb"]
