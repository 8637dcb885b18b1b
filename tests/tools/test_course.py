"""The course page says what the chapters say: hours, predictions, exercises."""

from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from tools.book import course
from tools.book.course import (
    PAGE,
    WEEKS,
    Chapter,
    CourseError,
    Exercise,
    chapter_of,
    filled,
    hours,
    minutes,
    read_chapters,
    reading_minutes,
)
from tools.book.notebook_form import as_text, canonical

ROOT = Path(__file__).parents[2]
HEAD = "# Masks\n\n- **Time**: 35 minutes to read, an hour and a half for the exercises, 30 seconds"
EXERCISE = "::::{exercise} Two masks\n:label: ex-03-masks\n\n**Difficulty** 3 of 3\n::::"
MASKS = Chapter("03-masks.ipynb", "03 Masks", 35, 90, 1, (Exercise("Two masks", "ex-03-masks", 3),))
PLACES = ["all weeks", *(f"week {n}" for n in range(1, len(WEEKS) + 1))]
EMPTY = "\n".join(f"% {place}\n% end" for place in PLACES)


def notebook(*cells):
    return as_text(canonical(new_notebook(cells=list(cells))))


def test_the_page_is_current():
    page = PAGE.read_text("utf-8")
    assert filled(page, read_chapters()) == page, "run `python -m tools.book.course`"


def test_an_hour_changed_by_hand_is_put_right(tmp_path, monkeypatch):
    page = tmp_path / "course.md"
    page.write_text(PAGE.read_text("utf-8").replace(" min |", "5 min |", 1), "utf-8")
    monkeypatch.setattr(course, "PAGE", page)
    assert course.main() == 0
    assert page.read_text("utf-8") == PAGE.read_text("utf-8")


def test_a_chapter_is_read():
    text = notebook(
        new_markdown_cell(HEAD), new_code_cell("predictions.leak"), new_markdown_cell(EXERCISE)
    )
    assert chapter_of("03-masks.ipynb", "03 Masks", text) == MASKS


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ((EXERCISE,), "states no times"),
        ((HEAD,), "states no exercises"),
        ((HEAD.replace("an hour and a half", "ages"), EXERCISE), "got 'ages'"),
    ],
)
def test_a_chapter_that_says_too_little_is_refused(cells, message):
    with pytest.raises(CourseError, match=message):
        chapter_of("03-masks.ipynb", "03 Masks", notebook(*map(new_markdown_cell, cells)))


def test_minutes_are_read_as_heads_write_them():
    assert [minutes(w) for w in ("75 minutes", "an hour", "an hour and a half")] == [75, 60, 90]


def test_hours_are_rounded_to_halves():
    assert hours([MASKS]) == "2"
    assert hours([MASKS] * 5) == "10½"


def test_a_week_shows_hours_exercises_and_the_hard_ones():
    page = filled(EMPTY, {"03": MASKS})
    assert "**2 hours**: 35 minutes to read, 90 for the exercises." in page
    assert (
        "| [03 Masks](03-masks.ipynb), 35 min | 1 | {ref}`3.1 Two masks <ex-03-masks>` ★, 90 min |"
        in page
    )
    assert "1 chapters, 1 predictions, 1 exercises" in page


def test_a_chapter_without_a_week_and_a_page_without_a_place_are_refused():
    with pytest.raises(CourseError, match="no week has chapter 99"):
        filled(EMPTY, {"99": MASKS})
    with pytest.raises(CourseError, match="one place each"):
        filled(EMPTY.replace("% week 2", "% weak 2"), {"03": MASKS})


def test_reading_is_measured_by_words_figures_and_cells():
    words = new_markdown_cell("## A story\n\n" + "word " * 2_498)
    figures = [new_markdown_cell(f"**Figure 3.{n}.**") for n in range(10)]
    shown = [new_code_cell("1") for _ in range(20)]
    hidden = [new_code_cell("1", metadata={"tags": ["remove-cell"]}) for _ in range(50)]
    exercises = new_markdown_cell("## Exercises\n\n" + "word " * 5_000)
    assert reading_minutes(notebook(words)) == 10
    assert reading_minutes(notebook(words, *figures)) == 20  # 10 and 7½, and their captions
    assert reading_minutes(notebook(words, *shown, *hidden)) == 20
    assert reading_minutes(notebook(words, exercises, *figures)) == 10


@pytest.mark.parametrize("path", course.listed(), ids=lambda path: path.stem)
def test_a_head_states_the_measured_time(path):
    text = path.read_text(encoding="utf-8")
    assert course.timed(text) == text, "run `python -m tools.book.course`"


def test_a_time_that_was_typed_is_put_right():
    words = new_markdown_cell("## A story\n\n" + "word " * 2_498)
    typed = notebook(new_markdown_cell("**Time**: 35 minutes to read, an hour"), words)
    assert "**Time**: 10 minutes to read, an hour" in course.timed(typed)
