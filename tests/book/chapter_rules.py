"""The chapter standard, one function a rule. Each takes a notebook and returns its problems."""

import ast
import inspect
import re
import textwrap
from collections.abc import Callable
from types import FunctionType
from typing import Any

from chapter_parts import (
    SOLUTION,
    Exercise,
    calls,
    code,
    code_cells,
    exercises,
    headings,
    imported_names,
    is_code,
    markdown,
    parsed,
    prose,
    resolve,
    sections,
)
from nbformat import NotebookNode

from walkthrough.checking import Check, OwnCheck, ValueCheck

MAX_LINES = 15
STORY_WORDS, ALL_WORDS = 2200, 3300
CHECKED = "nbval-check-output"
BANNED = re.compile(
    r"\b(simply|just|obviously|clearly|trivial(ly)?|of course|eas(y|ily)|basically|powerful"
    r"|amazing|as you know|note that|let['’]s|delve|seamless(ly)?)\b",
    re.IGNORECASE,
)
RAW_HTML = re.compile(r"</?[a-zA-Z][a-zA-Z0-9-]*(\s[^<>]*)?/?>")
REMOTE_IMAGE = re.compile(
    r"!\[[^\]]*\]\(\s*(https?:)?//|^[`:]{3,}\{(image|figure)\}\s+(https?:)?//", re.MULTILINE
)
UNRENDERED = re.compile(r"\{(?:glue|cite)[^}]*\}|\]\{[.#][^}]*\}")  # roles and spans of the site
INTERACTIVE = {"add_params", "interactive", "selection_point", "selection_interval", "button"}
EVIDENCE = re.compile(r"^> \*\*Evidence\*\*, as far as \[(.+?)\]\(#([\w-]+)\)", re.MULTILINE)
ENDS = ["What goes wrong", "Exercises", "Summary"]  # of a chapter that opens with a question


def head_is_complete(notebook: NotebookNode) -> list[str]:
    head = sections(notebook)[""]
    text, source = markdown(head), code(head)
    wanted = {
        "**Paper** with a section": r"^\*\*Paper\*\*: .*Section",
        "what is needed and what is helpful": r"\*\*You need first\*\*: .+; helpful: ",
        "minutes and seconds": r"\*\*Time\*\*: \d+ minutes? to read, .*\d+ seconds? to run",
    }
    problems = [
        f"the head lacks {what}"
        for what, pattern in wanted.items()
        if not re.search(pattern, text, re.MULTILINE)
    ]
    aims = text.partition(":::{dropdown} You will be able to\n")[2].partition(":::")[0]
    points = re.findall(r"^- \S", aims, re.MULTILINE)
    if not 3 <= len(points) <= 5:
        problems.append(f"the head names 3 to 5 things you will be able to do, not {len(points)}")
    if not re.search(r"\bchapter_map\(", source) and not re.search(r"\]\(\S*map\S*\.svg", text):
        problems.append("the head has no map of the block being built")
    return problems


def has_three_to_five_exercises(notebook: NotebookNode) -> list[str]:
    count = len(exercises(notebook))
    return [] if 3 <= count <= 5 else [f"a chapter has 3 to 5 exercises, found {count}"]


def exercises_are_complete(notebook: NotebookNode) -> list[str]:
    names = imported_names(notebook)
    return [
        f"exercise “{exercise.title}”: {problem}"
        for exercise in exercises(notebook)
        for problem in _exercise_problems(exercise, names)
    ]


def _exercise_problems(exercise: Exercise, names: dict[str, Any]) -> list[str]:
    problems = []
    wanted = {
        "a label `ex-…`": r"^:label: ex-[\w-]+",
        "difficulty and time": r"\*\*Difficulty\*\* [123] of 3 · \*\*Time\*\* \d+ minutes?",
        "a folded hint": r"\{dropdown\} Hint",
    }
    for what, pattern in wanted.items():
        if not re.search(pattern, exercise.text, re.MULTILINE):
            problems.append(f"lacks {what}")
    cells = [cell for cell in exercise.before_solution if is_code(cell)]
    if len(cells) < 2:
        problems.append("needs a stub cell, then a check cell, before its solution")
    elif not _calls_a_check(cells[-1].source, names):
        problems.append("the cell before the solution calls no check of walkthrough")
    if any(_calls_a_check(cell.source, names) for cell in cells[:-1]):
        problems.append("the check comes last, after the stub")
    return problems + _solution_problems(exercise, names)


def _solution_problems(exercise: Exercise, names: dict[str, Any]) -> list[str]:
    if not exercise.solution:
        return ["has no solution right after it"]
    problems = []
    start = exercise.solution[0].source
    label = re.search(r"^:label: (\S+)", exercise.text, re.MULTILINE)
    target = SOLUTION.search(start)
    if not label or not target or label.group(1) != target.group(1):
        problems.append("its solution names another exercise")
    if not re.search(r"^:class: dropdown", start, re.MULTILINE):
        problems.append("its solution is not folded (:class: dropdown)")
    if not exercise.solution_code:
        problems.append("its solution has no code cell tagged `solution`")
    source = exercise.solution_code
    if not _calls_a_check(source, names) or not re.search(r'assert .*== "right"', source):
        problems.append("its solution does not assert that the check says right")
    return problems


def _calls_a_check(source: str, names: dict[str, Any]) -> bool:
    found = [resolve(call.func, names) for call in calls(source)]
    return any(isinstance(thing, Check | OwnCheck | ValueCheck) for thing in found)


def imports_stand_in_the_first_cell(notebook: NotebookNode) -> list[str]:
    return [
        f"cell {cell.id}: imports belong into the first code cell"
        for cell in code_cells(notebook)[1:]
        if any(isinstance(n, ast.Import | ast.ImportFrom) for n in ast.walk(parsed(cell.source)))
    ]


def cells_are_short(notebook: NotebookNode) -> list[str]:
    problems = []
    for cell in code_cells(notebook)[1:]:
        lines = [line for line in cell.source.splitlines() if line.strip(" #")]
        count = sum(not line.lstrip().startswith("#") for line in lines)
        if count > MAX_LINES:
            problems.append(f"cell {cell.id}: {count} lines of code, at most {MAX_LINES}")
    return problems


def compared_cells_hold_text(notebook: NotebookNode) -> list[str]:
    problems = []
    for cell in code_cells(notebook):
        if CHECKED in _tags(cell) and not cell.outputs:
            problems.append(f"cell {cell.id}: tagged {CHECKED} but stores nothing to compare")
        if any(output.get("name") == "stderr" for output in cell.outputs):
            problems.append(f"cell {cell.id}: stored stderr")
    return problems


def prose_follows_the_style(notebook: NotebookNode) -> list[str]:
    text = prose(notebook)
    problems = [f"banned in prose: {match.group(0)!r}" for match in BANNED.finditer(text)]
    problems += [f"raw HTML: {match.group(0)!r}" for match in RAW_HTML.finditer(text)]
    problems += [f"JupyterLab shows it as it is: {found}" for found in UNRENDERED.findall(text)]
    if REMOTE_IMAGE.search(markdown(notebook.cells)):
        problems.append("an image from another host; ship it under book/web")
    return problems


def page_is_described(notebook: NotebookNode) -> list[str]:
    meta = notebook.metadata.get("myst", {}).get("html_meta", {})
    length = len(meta.get("description", ""))
    if 50 <= length <= 200:
        return []
    return [f"myst.html_meta.description has 50 to 200 characters, found {length}"]


def has_an_interactive_figure(notebook: NotebookNode) -> list[str]:
    names = imported_names(notebook)
    for cell in code_cells(notebook):
        for call in calls(cell.source):
            if isinstance(call.func, ast.Attribute) and call.func.attr in INTERACTIVE:
                return []
            if _makes_parameters(resolve(call.func, names), set()):
                return []
    return ["no interactive figure: none of the calls makes an Altair parameter"]


def _makes_parameters(thing: Any, seen: set[Any]) -> bool:
    """Follow a figure's function to a call that adds chart parameters."""
    thing = inspect.unwrap(thing) if isinstance(thing, FunctionType) else thing
    if not isinstance(thing, FunctionType) or thing in seen:
        return False
    if not thing.__module__.startswith("walkthrough."):
        return False
    seen.add(thing)
    used = _names_in(thing)
    if used & INTERACTIVE:
        return True
    return any(_makes_parameters(thing.__globals__.get(name), seen) for name in used)


def _names_in(function: FunctionType) -> set[str]:
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    attributes = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return attributes | {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def pictures_have_alt_text(notebook: NotebookNode) -> list[str]:
    names = imported_names(notebook)
    return [
        f"cell {cell.id}: shows a picture, so its metadata needs mystnb.image.alt"
        for cell in code_cells(notebook)[1:]
        if _draws(cell.source, names)
        and not cell.metadata.get("mystnb", {}).get("image", {}).get("alt")
    ]


def _draws(source: str, names: dict[str, Any]) -> bool:
    definitions = ast.FunctionDef | ast.ClassDef
    top = [node for node in parsed(source).body if not isinstance(node, definitions)]
    for node in (inner for outer in top for inner in ast.walk(outer)):
        if not isinstance(node, ast.Call):
            continue
        thing = resolve(node.func, names)
        if (getattr(thing, "__module__", "") or "").startswith(("matplotlib.pyplot", "seaborn")):
            return True
        returns = getattr(thing, "__annotations__", {}).get("return", "")
        if re.search(r"matplotlib|\bFigure\b|\bAxes\b", str(returns)):
            return True
    return False


def links_lead_somewhere(notebook: NotebookNode, pages: set[str]) -> list[str]:
    """Every link to a page of the book names a page that the table of contents has."""
    found = re.findall(r"\]\(([^):\s]+\.(?:ipynb|md|html))(?:#[^)]*)?\)", markdown(notebook.cells))
    problems = [f"a link to {link}: link to the source file" for link in found if "html" in link]
    problems += [
        f"a link to {link}, which is no page of the book"
        for link in found
        if "html" not in link and link.removeprefix("./") not in pages
    ]
    return problems


def _tags(cell: NotebookNode) -> list[str]:
    return list(cell.metadata.get("tags", []))


def is_a_story(notebook: NotebookNode) -> list[str]:
    """A front door: short, in plain Markdown, a picture and a way on at every step."""
    text = markdown(notebook.cells)
    words = len(prose(notebook).split())
    steps = headings(text, 2)
    numbered = [step for step in steps if re.match(r"\d+ ", step)]
    seen = [cell for cell in code_cells(notebook) if "remove-cell" not in _tags(cell)]
    without = [
        step
        for step in numbered
        if not any(cell in seen for cell in sections(notebook)[step])
        or not re.search(r"\]\(\d\d-[\w-]+\.ipynb\)", markdown(sections(notebook)[step]))
    ]
    problems = [f"“{step}” lacks a picture, or a link to a chapter" for step in without]
    if len(headings(text, 1)) != 1 or not notebook.cells[0].source.startswith("# "):
        problems.append("a story starts with its title, the only first-level heading")
    if [int(step.split()[0]) for step in numbered] != list(range(1, len(numbered) + 1)):
        problems.append(f"the steps are numbered from 1; found {numbered}")
    if not 1000 <= words <= 1500:
        problems.append(f"a story has 1000 to 1500 words, found {words}")
    if found := re.search(r"^[`:]{3,}|\{[\w:]+\}`|\]\{", text, re.MULTILINE):
        problems.append(f"markup that only the site understands: {found.group(0)!r}")
    return problems


def opens_with_a_question(notebook: NotebookNode) -> list[str]:
    """Its title asks, its headings tell the story, mistakes and exercises end it; it is short."""
    text = markdown(notebook.cells)
    part = sections(notebook)
    titles, found = headings(text, 1), headings(text, 2)
    problems = []
    if len(titles) != 1 or not notebook.cells[0].source.startswith(f"# {titles[0]}"):
        problems.append("a chapter starts with its title, the only first-level heading")
    if not titles or not titles[0].endswith("?"):
        problems.append("the title is a question")
    if found[-3:] != ENDS or len(found) < 6:
        problems.append(f"headings tell the story, then come {ENDS}; found {found}")
    wanted = {
        "a `Paper, Section N` admonition": (
            text,
            r"\{admonition\} Paper, .*Section.*\n:class: paper",
        ),
        "show(…)": (code(notebook.cells), r"(?<![.\w])show\("),
        "a {warning}": (markdown(part.get(ENDS[0], [])), r"\{warning\}"),
        "two folded questions": (
            markdown(part.get(ENDS[2], [])),
            r"\{dropdown\}(.|\n)*\{dropdown\}",
        ),
        "a way on": (markdown(part.get(ENDS[2], [])), r"\]\([\w./-]+\.ipynb(#[\w-]*)?\)"),
    }
    problems += [
        f"it lacks {what}" for what, (where, how) in wanted.items() if not re.search(how, where)
    ]
    if not any(CHECKED in _tags(cell) for cell in code_cells(notebook)):
        problems.append("it lacks a compared cell")
    words = {title: _words(cells) for title, cells in part.items()}
    story = sum(n for title, n in words.items() if title not in ENDS[1:])
    total = sum(words.values())
    if story > STORY_WORDS or total > ALL_WORDS:
        limits = f"at most {STORY_WORDS} and {ALL_WORDS}"
        problems.append(f"{story} words of story and {total} in all, {limits}")
    return problems


def marks_its_evidence(notebook: NotebookNode) -> list[str]:
    """One line says where a chapter tests what it has explained, and where the core goes on."""
    text = markdown(notebook.cells)
    marks = list(EVIDENCE.finditer(text))
    if len(marks) != 1:
        return [f"a chapter says once where its evidence begins and ends, found {len(marks)}"]
    goes_on, anchor = marks[0].groups()
    if goes_on not in headings(text[marks[0].end() :], 2):
        return [f"after the evidence no heading says “{goes_on}”"]
    wanted = re.sub(r"[^\w -]", "", goes_on).lower().replace(" ", "-")
    return [] if anchor == wanted else [f"“{goes_on}” is at #{wanted}, not at #{anchor}"]


def is_a_workshop(notebook: NotebookNode) -> list[str]:
    """Work for an afternoon: it leads back to what explains each part, and solutions come last."""
    text = markdown(notebook.cells)
    titles, words = headings(text, 1), len(prose(notebook).split())
    problems = []
    if len(titles) != 1 or not notebook.cells[0].source.startswith(f"# {titles[0]}"):
        problems.append("a page starts with its title, the only first-level heading")
    if not titles or not titles[0].endswith("?"):
        problems.append("the title is a question")
    if headings(text, 2)[-2:] != ["Summary", "The solution"]:
        problems.append("a summary, and then the solution, end it")
    if not re.search(r"\bshow\(", code(sections(notebook).get("The solution", []))):
        problems.append("the solution is shown from the package")
    linked = set(re.findall(r"\]\((\d\d)-[\w-]+\.ipynb", text))
    if missing := {f"{n:02d}" for n in range(2, 10)} - linked:
        problems.append(f"no link to what explains its parts: {sorted(missing)}")
    if words > STORY_WORDS:
        problems.append(f"{words} words, at most {STORY_WORDS}")
    return problems


def _words(cells: list[NotebookNode]) -> int:
    return len(prose(NotebookNode(cells=cells)).split())


QUESTION: tuple[Callable[[NotebookNode], list[str]], ...] = (
    opens_with_a_question,
    head_is_complete,
    has_three_to_five_exercises,
    exercises_are_complete,
    imports_stand_in_the_first_cell,
    cells_are_short,
    compared_cells_hold_text,
    prose_follows_the_style,
    page_is_described,
    has_an_interactive_figure,
    pictures_have_alt_text,
)
WORKSHOP = (
    is_a_workshop,
    head_is_complete,
    imports_stand_in_the_first_cell,
    cells_are_short,
    compared_cells_hold_text,
    prose_follows_the_style,
    page_is_described,
    has_an_interactive_figure,
    pictures_have_alt_text,
)
STORY = (
    is_a_story,
    imports_stand_in_the_first_cell,
    cells_are_short,
    compared_cells_hold_text,
    prose_follows_the_style,
    page_is_described,
    pictures_have_alt_text,
)


FORMS = {"question": QUESTION, "story": STORY, "workshop": WORKSHOP}


def rules_for(notebook: NotebookNode) -> tuple[Callable[[NotebookNode], list[str]], ...]:
    """The rules of the form that a chapter's metadata names."""
    return FORMS[notebook.metadata["form"]]
