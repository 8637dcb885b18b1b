"""Every rule of the chapter standard passes a good chapter and rejects one broken on purpose."""

from pathlib import Path

import chapter_rules as rules
import jupytext
import pytest
from nbformat.v4 import new_output
from tools.book.notebook_form import canonical

HERE = Path(__file__).parent
EXERCISE = (HERE / "good_exercise.md").read_text(encoding="utf-8")
EXERCISES = "\n".join(EXERCISE.replace("@N@", number) for number in ("one", "two", "three"))
GOOD = (HERE / "good_chapter.md").read_text(encoding="utf-8").replace("@EXERCISES@", EXERCISES)


def chapter(text):
    """The notebook of a text, its compared cell with an output."""
    notebook = jupytext.reads(text, fmt="md:myst")
    for cell in notebook.cells:
        if cell.cell_type == "code" and "nbval-check-output" in cell.metadata.get("tags", []):
            cell.outputs = [new_output("stream", name="stdout", text="2\n")]
    return canonical(notebook)


@pytest.mark.parametrize("rule", rules.QUESTION, ids=lambda rule: rule.__name__)
def test_a_good_chapter_passes(rule):
    assert rule(chapter(GOOD)) == []


LONG_CELL = "\n".join(f"x{number} = {number}" for number in range(16))
WORDS = "word " * 2200 + "\n\n+++\n\n"
BROKEN = [
    (rules.opens_with_a_question, "twice two?\n\n**P", "twice two.\n\n**P", "is a question"),
    (rules.opens_with_a_question, "# What is", "What is", "its title"),
    (rules.opens_with_a_question, "## What goes wrong\n", "## Mistakes\n", "tell the story"),
    (rules.opens_with_a_question, "## Exercises\n", "## Tasks\n", "tell the story"),
    (rules.opens_with_a_question, ":class: paper", ":class: tip", "a `Paper"),
    (rules.opens_with_a_question, "show(doubled)", "print(doubled)", "lacks show"),
    (rules.opens_with_a_question, "{warning}", "{tip}", "lacks a {warning}"),
    (rules.opens_with_a_question, "{dropdown} What is twice two?", "{tip}", "folded questions"),
    (rules.opens_with_a_question, "00-good.ipynb", "https://x.org", "a way on"),
    (rules.opens_with_a_question, ":tags: [nbval-check-output]", "", "compared cell"),
    (
        rules.opens_with_a_question,
        "## Exercises\n",
        f"{WORDS}## Exercises\n",
        "of story",
    ),
    (rules.opens_with_a_question, "## Summary\n", f"## Summary\n\n{WORDS}{WORDS}", "in all"),
    (rules.head_is_complete, "- double two numbers\n- double three numbers\n", "", "not 1"),
    (rules.head_is_complete, "Section 3.2.1 · **T", "somewhere · **T", "Paper"),
    (rules.head_is_complete, "; helpful: multiplication", "", "helpful"),
    (rules.head_is_complete, ", 2 seconds to run", "", "seconds"),
    (rules.head_is_complete, 'chapter_map("attention")', "print()", "map"),
    (rules.has_three_to_five_exercises, "{exercise} Double it, two", "{tip}", "found 2"),
    (rules.exercises_are_complete, ":label: ex-00-double-one", "", "label"),
    (rules.exercises_are_complete, "**Difficulty** 1 of 3", "**Difficulty** low", "difficulty"),
    (rules.exercises_are_complete, "{dropdown} Hint", "{dropdown} More", "hint"),
    (rules.exercises_are_complete, "doubled(double_one)", "double_one(1)", "calls no check"),
    (rules.exercises_are_complete, ":class: dropdown\n", "", "not folded"),
    (rules.exercises_are_complete, '.status == "right"', "", "does not assert"),
    (rules.exercises_are_complete, "{solution} ex-00-double-two", "{solution} ex-x", "another"),
    (rules.exercises_are_complete, ":tags: [solution]", "", "tagged `solution`"),
    (rules.imports_stand_in_the_first_cell, "print(1 + 1)", "import os\nprint(os)", "first code"),
    (rules.cells_are_short, "print(1 + 1)", LONG_CELL, "16 lines"),
    (rules.prose_follows_the_style, "It is a sum.", "It is simply a sum.", "'simply'"),
    (rules.prose_follows_the_style, "Four.", "Of course four.", "'Of course'"),
    (rules.prose_follows_the_style, "Four.", "This is <b>four</b>.", "raw HTML"),
    (rules.prose_follows_the_style, "Four.", '<img src="x.png">', "raw HTML"),
    (rules.prose_follows_the_style, "Four.", "![four](https://x.org/4.png)", "another host"),
    (rules.prose_follows_the_style, "Four.", "{glue:text}`four:.1f`", "{glue:text}"),
    (rules.prose_follows_the_style, "Four.", "Four {cite}`a2017`.", "{cite}"),
    (rules.prose_follows_the_style, "Four.", "[Four]{.large}", "]{.large}"),
    (rules.page_is_described, "description: A chapter", "other: A chapter", "found 0"),
    (rules.has_an_interactive_figure, ".add_params(alt.param(value=1))", "", "no interactive"),
    (rules.pictures_have_alt_text, "    alt: A rising line\n", "    width: 3\n", "alt"),
]


@pytest.mark.parametrize(
    ("rule", "found", "replacement", "message"),
    BROKEN,
    ids=[f"{number}-{case[0].__name__}" for number, case in enumerate(BROKEN)],
)
def test_a_broken_chapter_is_rejected(rule, found, replacement, message):
    assert found in GOOD
    problems = rule(chapter(GOOD.replace(found, replacement)))
    assert any(message in problem for problem in problems), problems


def test_every_rule_was_broken_once():
    tried = {case[0] for case in BROKEN} | {rules.compared_cells_hold_text}
    assert tried == set(rules.QUESTION)


@pytest.mark.parametrize(
    ("mark", "problem"),
    [
        ("> **Evidence**, as far as [What goes wrong](#what-goes-wrong). Go on.", ""),
        ("Evidence, as far as [What goes wrong](#what-goes-wrong).", "found 0"),
        ("> **Evidence**, as far as [Tasks](#tasks).", "no heading says “Tasks”"),
        ("> **Evidence**, as far as [What goes wrong](#mistakes).", "at #what-goes-wrong"),
    ],
)
def test_a_line_between_core_and_evidence_leads_on(mark, problem):
    text = GOOD.replace("## What goes wrong", f"## Does it hold?\n\n{mark}\n\n## What goes wrong")
    found = rules.marks_its_evidence(chapter(text))
    assert any(problem in one for one in found) if problem else found == []


def test_a_compared_cell_without_output_is_rejected():
    notebook = chapter(GOOD)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = []
    assert "stores nothing" in rules.compared_cells_hold_text(notebook)[0]


def test_stored_warnings_are_rejected():
    notebook = chapter(GOOD)
    cell = next(cell for cell in notebook.cells if cell.cell_type == "code")
    cell.outputs = [new_output("stream", name="stderr", text="UserWarning")]
    assert "stored stderr" in rules.compared_cells_hold_text(notebook)[0]


def test_links_lead_to_pages_of_the_book():
    notebook = chapter(GOOD)
    assert rules.links_lead_somewhere(notebook, {"00-good.ipynb"}) == []
    assert "no page" in rules.links_lead_somewhere(notebook, {"01-other.ipynb"})[0]
    built = chapter(GOOD.replace("00-good.ipynb", "00-good.html"))
    assert "source file" in rules.links_lead_somewhere(built, {"00-good.ipynb"})[0]


def test_a_call_of_our_figures_counts_as_interactive_only_if_it_adds_parameters():
    still = GOOD.replace("import altair as alt", "from walkthrough.drawing import attention as alt")
    viewer = still.replace("alt.Chart().add_params(alt.param(value=1))", "alt.attention_viewer(x)")
    heatmap = still.replace("alt.Chart().add_params(alt.param(value=1))", "alt.weights_heatmap(x)")
    assert rules.has_an_interactive_figure(chapter(viewer)) == []
    assert rules.has_an_interactive_figure(chapter(heatmap)) != []


STEP = """+++

## @N@ A step

```{code-cell}
print(@N@)
```

A sentence of words, as long as it must be. *Go deeper: [the chapter](01-why-attention.ipynb).*
"""
STORY = "# What happens?\n\n" + "".join(STEP.replace("@N@", n) for n in "123") + "\nwords " * 1000


def test_a_story_passes_and_a_chapter_is_none():
    assert rules.is_a_story(chapter(STORY)) == []
    assert rules.is_a_story(chapter(GOOD)) != []


@pytest.mark.parametrize(
    ("found", "replacement", "message"),
    [
        ("# What happens?\n", "What happens?\n", "its title"),
        ("print(3)", "", "lacks a picture"),
        ("(01-why-attention.ipynb)", "(ledger.md)", "link to a chapter"),
        ("## 3 A", "## 4 A", "numbered from 1"),
        ("\nwords", "\n", "found"),
        ("A sentence", "A {glue:text}`number`", "only the site"),
        ("A sentence", ":::{note}\nA sentence\n:::", "only the site"),
        ("A sentence", "[A sentence]{.way}", "only the site"),
    ],
)
def test_a_broken_story_is_rejected(found, replacement, message):
    assert found in STORY
    problems = rules.is_a_story(chapter(STORY.replace(found, replacement)))
    assert any(message in problem for problem in problems), problems


LINKS = " ".join(f"[{n}](0{n}-a.ipynb)" for n in range(2, 10))
WORKSHOP = f"""# Can you?

{LINKS}

+++

## Summary

Yes.

+++

## The solution

```{{code-cell}}
show(it)
```
"""


def test_a_workshop_passes_and_a_chapter_is_none():
    assert rules.is_a_workshop(chapter(WORKSHOP)) == []
    assert rules.is_a_workshop(chapter(GOOD)) != []


@pytest.mark.parametrize(
    ("found", "replacement", "message"),
    [
        ("# Can you?", "# You can", "is a question"),
        ("# Can you?", "Can you?", "its title"),
        ("## Summary", "## End", "a summary"),
        ("show(it)", "print(it)", "shown from the package"),
        ("(06-a.ipynb)", "(mistakes.md)", "['06']"),
        ("Yes.", "word " * 2200, "at most 2200"),
    ],
)
def test_a_broken_workshop_is_rejected(found, replacement, message):
    assert found in WORKSHOP
    problems = rules.is_a_workshop(chapter(WORKSHOP.replace(found, replacement)))
    assert any(message in problem for problem in problems), problems


def test_the_metadata_name_the_form():
    notebook = chapter(STORY)
    for form, wanted in rules.FORMS.items():
        notebook.metadata["form"] = form
        assert rules.rules_for(canonical(notebook)) is wanted
