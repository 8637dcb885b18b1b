"""Chapter 16 states what `results/multi30k-en-de.json` records; quotations stay a handful."""

import re
from pathlib import Path

import nbformat
import pytest

from walkthrough.experiments import recorded_runs
from walkthrough.results import recorded

ROOT = Path(__file__).parents[2]
CHAPTER = ROOT / "book" / "16-translation.ipynb"
LINE = re.compile(
    r"^(.+): BLEU ([\d.]+), chrF ([\d.]+), penalty ([\d.]+) "
    r"\((\w+), checkpoints (\d+), beam (\d+), α ([\d.]+)\)$",
    re.MULTILINE,
)
HANDFUL = 8


@pytest.fixture(scope="module")
def record():
    return recorded("multi30k-en-de")


def stated(text):
    """What a text says: run, BLEU, chrF, penalty, split, checkpoints, beam, α."""
    return LINE.findall(text)


def measured(record):
    """What the record says, printed as the chapter prints it."""
    return [
        (
            label,
            f"{result['bleu']:.2f}",
            f"{result['chrf']:.2f}",
            f"{result['brevity_penalty']:.3f}",
            result["split"],
            str(result["average"]),
            str(result["beam"]),
            str(result["alpha"]),
        )
        for label, run in zip(recorded_runs.labels(record), record["runs"], strict=True)
        for result in run["evaluation"]
    ]


def outputs(notebook):
    """The stored text of all cells."""
    return "\n".join(
        output.get("text", "") for cell in notebook.cells for output in cell.get("outputs", ())
    )


def test_the_chapter_prints_what_is_recorded(record):
    text = outputs(nbformat.read(CHAPTER, as_version=4))
    assert stated(text) == measured(record), (
        "run `tools/notebooks.py execute book/16-translation.ipynb` after a new record"
    )
    for run in record["runs"]:
        for result in run["evaluation"]:
            assert result["bleu_signature"] in text


def test_another_figure_would_be_seen(record):
    label, bleu, *rest = measured(record)[0]
    changed = f"{float(bleu) + 0.01:.2f}"
    chrf, penalty, split, average, beam, alpha = rest
    wrong = (
        f"{label}: BLEU {changed}, chrF {chrf}, penalty {penalty} "
        f"({split}, checkpoints {average}, beam {beam}, α {alpha})"
    )
    assert stated(wrong) == [(label, changed, *rest)] != measured(record)[:1]


def test_every_run_says_how_it_was_made(record):
    for run in record["runs"]:
        assert run["command"].startswith("python -m transformer train")
        assert re.match(r"[0-9a-f]{40}", run["commit"])
        for name in ("date", "processor", "cores", "threads", "torch"):
            assert run[name], name
        assert run["seed"] == run["settings"]["training"]["seed"]


def test_scores_are_counted_on_the_tokens_of_the_test_file(record):
    for run in record["runs"]:
        for result in run["evaluation"]:
            assert "tok:none" in result["bleu_signature"]
            assert result["sentences"] == {"val": 1014}.get(result["split"], 1000)


def test_no_more_than_a_handful_is_quoted():
    assert len(recorded_runs.quoted()) <= HANDFUL


def test_a_run_that_goes_on_has_the_seed_it_began_with(record):
    first = {**record["runs"][0], "name": "first", "seed": 5}
    longer = {**first, "name": "longer", "seed": 6, "continues": "first"}
    assert recorded_runs.first_seed(longer, {"runs": [first, longer]}) == 5
    assert recorded_runs.first_seed(longer | {"continues": None}, {"runs": [first]}) == 6
