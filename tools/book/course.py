"""Fill book/course.md with what each week holds: chapters, hours, predictions, exercises.

    python -m tools.book.course

It also writes the measured time to read into the head of each chapter. The prose of the page is
written by hand. What stands between `% week N` (or `% all weeks`) and `% end` comes from the heads
and the exercises of the chapters, so that no hour is typed.
"""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

import yaml
from tools.book.notebook_form import read_text

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "book" / "course.md"
WEEKS = (  # the student's order: the model, a model of one's own, then what training is made of
    ("02", "03", "04", "05"),
    ("06", "07", "08", "09"),
    ("14", "01", "10", "11"),
    ("12", "13", "15", "16"),
    ("17", "18", "19"),
    ("20", "21", "22", "23"),
)
PLACE = re.compile(r"^% (week (\d+)|all weeks)\n.*?^% end$", re.MULTILINE | re.DOTALL)
TIME = re.compile(r"\*\*Time\*\*: (\d+) minutes to read, (.+?) for the exercises")
STATED = re.compile(r"(\*\*Time\*\*: )\d+( minutes to read)")
WORDS_A_MINUTE, A_FIGURE, A_CELL = 250, 0.75, 0.5  # the last two in minutes
UNREAD = re.compile(r"\$\$[^$]*\$\$|\]\([^)]*\)|\{\w+\}|^:\w+:.*$", re.MULTILINE)
EXERCISE = re.compile(
    r"\{exercise\} (?P<title>.+)\n:label: (?P<label>\S+)\n\n\*\*Difficulty\*\* (?P<difficulty>\d)"
)
IN_WORDS = {"an hour": 60, "an hour and a half": 90, "two hours": 120}
HARDEST = 3


class CourseError(ValueError):
    """A chapter that does not say what the course needs, or a page with a place too few."""


@dataclass(frozen=True)
class Exercise:
    """What an exercise is called, and how hard it is from 1 to 3."""

    title: str
    label: str
    difficulty: int


@dataclass(frozen=True)
class Chapter:
    """What the course says of a chapter; times in minutes."""

    file: str
    title: str
    reading: int
    exercising: int
    n_predictions: int
    exercises: tuple[Exercise, ...]


def minutes(words: str) -> int:
    """Return what a chapter's head says as a number: "75 minutes", "an hour and a half".

    Raises:
        CourseError: it says it in other words.
    """
    if number := re.fullmatch(r"(\d+) minutes", words):
        return int(number[1])
    if words not in IN_WORDS:
        raise CourseError(f"a time is 'N minutes' or one of {list(IN_WORDS)}; got {words!r}")
    return IN_WORDS[words]


def reading_minutes(text: str) -> int:
    """Return how long a notebook takes to read, its exercises left out, to the nearest 5 minutes.

    Words, the figures with a number, and the cells whose code is seen.
    """
    words, figures, cells, section = 0, 0, 0, ""
    for cell in read_text(text).cells:
        if cell.cell_type == "markdown":
            section = (re.findall(r"^## (.+)$", cell.source, re.MULTILINE) or [section])[-1]
        if section == "Exercises":
            continue
        if cell.cell_type == "markdown":
            words += len(re.findall(r"[\w’'-]+", UNREAD.sub(" ", cell.source)))
            figures += cell.source.startswith("**Figure ")
        else:
            cells += not cell.metadata.get("jupyter", {}).get("source_hidden", False)
    minutes = words / WORDS_A_MINUTE + A_FIGURE * figures + A_CELL * cells
    return max(5, 5 * round(minutes / 5))


def timed(text: str) -> str:
    """Return a notebook's text whose head states the measured time to read."""
    return STATED.sub(rf"\g<1>{reading_minutes(text)}\g<2>", text, count=1)


def chapter_of(file: str, title: str, text: str) -> Chapter:
    """Return what the course needs of a notebook's text.

    Raises:
        CourseError: its head states no times, or it has no exercises.
    """
    cells = read_text(text).cells
    prose = "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    times = TIME.search(prose)
    exercises = tuple(
        Exercise(found["title"], found["label"], int(found["difficulty"]))
        for found in EXERCISE.finditer(prose)
    )
    if not times or not exercises:
        missing = "exercises" if times else "times to read and for the exercises"
        raise CourseError(f"{file} states no {missing}")
    asked = sum(cell.source.startswith("predictions.") for cell in cells)
    return Chapter(file, title, int(times[1]), minutes(times[2]), asked, exercises)


def listed(root: Path = ROOT) -> dict[Path, str]:
    """Return the chapters with exercises that the table of contents lists, and their titles."""
    parts = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))["parts"]
    return {
        root / f"{entry['file']}.ipynb": entry["title"]
        for entry in (entry for part in parts for entry in part["chapters"])
        if re.search(r"/(?!00)\d\d-", entry["file"])  # 00 is a story, without exercises
    }


def read_chapters(root: Path = ROOT) -> dict[str, Chapter]:
    """Return what the course needs of the listed chapters, by number."""
    return {
        path.name[:2]: chapter_of(path.name, title, path.read_text(encoding="utf-8"))
        for path, title in listed(root).items()
    }


def hours(of: list[Chapter]) -> str:
    """Return the time that chapters take, in hours to the nearest half: "6½"."""
    halves = round(sum(chapter.reading + chapter.exercising for chapter in of) / 30)
    return f"{halves // 2}{'½' if halves % 2 else ''}"


def week_table(of: list[Chapter]) -> str:
    """Return a week's hours and its table."""
    reading = sum(chapter.reading for chapter in of)
    doing = sum(chapter.exercising for chapter in of)
    lines = [
        f"**{hours(of)} hours**: {reading} minutes to read, {doing} for the exercises.",
        "",
        "| Read | Predict | Do |",
        "|---|---|---|",
    ]
    for chapter in of:
        tasks = " · ".join(
            f"{{ref}}`{int(chapter.file[:2])}.{n} {task.title} <{task.label}>`"
            + " ★" * (task.difficulty == HARDEST)
            for n, task in enumerate(chapter.exercises, start=1)
        )
        read = f"[{chapter.title}]({chapter.file}), {chapter.reading} min"
        lines.append(f"| {read} | {chapter.n_predictions} | {tasks}, {chapter.exercising} min |")
    return "\n".join(lines)


def all_weeks(chapters: dict[str, Chapter]) -> str:
    """Return how much there is in all."""
    n_exercises = sum(len(chapter.exercises) for chapter in chapters.values())
    n_predictions = sum(chapter.n_predictions for chapter in chapters.values())
    of_week = [hours([chapters[n] for n in week if n in chapters]) for week in WEEKS]
    return (
        f"{len(chapters)} chapters, {n_predictions} predictions, {n_exercises} exercises, about "
        f"{hours(list(chapters.values()))} hours: {', '.join(of_week[:-1])} and {of_week[-1]} for "
        "the six weeks, as the chapters themselves state their times."
    )


def filled(page: str, chapters: dict[str, Chapter]) -> str:
    """Return the page with every place filled.

    Raises:
        CourseError: a chapter stands in no week, or a week has no place on the page.
    """
    homeless = sorted(set(chapters) - {number for week in WEEKS for number in week})
    if homeless:
        raise CourseError(f"no week has chapter {', '.join(homeless)}: add it to WEEKS")
    wanted = {"all weeks", *(f"week {n}" for n in range(1, len(WEEKS) + 1))}
    places = [place[1] for place in PLACE.finditer(page)]
    if sorted(places) != sorted(wanted):
        raise CourseError(f"the page needs one place each for {sorted(wanted)}; it has {places}")

    def fill(place: re.Match[str]) -> str:
        if place[2] is None:
            text = all_weeks(chapters)
        else:
            week = WEEKS[int(place[2]) - 1]
            text = week_table([chapters[number] for number in week if number in chapters])
        return f"% {place[1]}\n\n{text}\n\n% end"

    return PLACE.sub(fill, page)


def main() -> int:
    """Write the heads of the chapters and the page; return the exit status."""
    try:
        for path in listed():
            path.write_text(timed(path.read_text(encoding="utf-8")), encoding="utf-8")
        PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), read_chapters()), encoding="utf-8")
    except (CourseError, OSError) as error:
        print(f"course.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
