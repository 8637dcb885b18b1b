"""Package code pasted into a chapter is found; a reader's own code is not."""

import inspect
import textwrap
from pathlib import Path

import pytest
from chapter_parts import parsed
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from pasted_copies import normalised_lines, package_windows, pasted

from transformer import attention

SOURCE = Path(inspect.getsourcefile(attention))
FUNCTION = next(
    text
    for text in SOURCE.read_text(encoding="utf-8").split("\n\n\n")
    if text.startswith("def scaled_dot_product_attention")
)


@pytest.fixture(scope="module")
def known():
    return package_windows([SOURCE])


def page(*cells):
    return new_notebook(cells=list(cells))


def test_a_pasted_function_is_found(known):
    problems = pasted(page(new_code_cell(FUNCTION)), known)
    assert "scaled_dot_product_attention" in problems[0]


def test_layout_comments_and_docstrings_do_not_hide_a_copy(known):
    body = parsed(FUNCTION).body[0]
    lines = FUNCTION.splitlines()[body.body[1].lineno - 1 :]
    disguised = textwrap.dedent("\n".join(f"{line}  # ours\n" for line in lines))
    shown = f'def mine(query, key):\n    """Mine."""\n{textwrap.indent(disguised, "    ")}'
    assert pasted(page(new_code_cell(shown)), known)


def test_a_copy_in_a_fenced_block_is_found(known):
    assert pasted(page(new_markdown_cell(f"Look:\n\n```python\n{FUNCTION}\n```\n")), known)


def test_a_copy_in_an_exercise_solution_is_the_readers_own(known):
    cells = [
        "## Exercises",
        "::::{exercise} Attend\n:label: ex-00-attend\n::::",
        ":::{solution} ex-00-attend\n:::",
    ]
    before = list(map(new_markdown_cell, cells))
    solution = new_code_cell(FUNCTION, metadata={"tags": ["solution"]})
    assert not pasted(page(*before, solution), known)
    assert pasted(page(*before, new_code_cell(FUNCTION)), known)


def test_using_the_package_is_no_copy(known):
    use = "output, weights = scaled_dot_product_attention(query, key, value, need_weights=True)"
    assert not pasted(page(new_code_cell(f"{use}\nprint(output)\nprint(weights)\nprint(1)")), known)


def test_quotes_and_line_breaks_are_one_form():
    one = normalised_lines("x = f('a',\n      b)\n")
    assert one == normalised_lines('# why\nimport os\nx = f("a", b)') == ["x = f('a', b)"]
