"""Chapter 16 states what the records of Multi30k hold; quotations stay a handful."""

import re
from pathlib import Path

import nbformat
import pytest

from walkthrough.ch16_translation.experiments import recorded_runs
from walkthrough.page.results import recorded

ROOT = Path(__file__).parents[3]
CHAPTER = ROOT / "book" / "16-translation.ipynb"
RECORDS = {name: recorded(name) for name in ("multi30k-en-de", "multi30k-de-en")}
LINE = re.compile(
    r"^(?:→| ) +(\S+) +(\d\d\.\d\d)(?: +[+-]\d+\.\d\d)? +([\d.]+) +(\d\d\.\d\d)"
    r" +(\d+) +(\d+) +([\d.]+|–)$",
    re.MULTILINE,
)
HANDFUL = 8


@pytest.fixture(scope="module", params=RECORDS)
def record(request):
    return RECORDS[request.param]


def stated(text):
    """What a text says: run, BLEU, penalty, chrF, beam, checkpoints and α, line by line."""
    return LINE.findall(text)


def measured():
    """What the records say on both splits."""
    return [
        (
            name,
            f"{result['bleu']:.2f}",
            f"{result['brevity_penalty']:.3f}",
            f"{result['chrf']:.2f}",
            str(result["beam"]),
            str(result["average"]),
            str(result["alpha"]) if result["beam"] > 1 else "–",
        )
        for record in RECORDS.values()
        for name, run in recorded_runs.by_name(record).items()
        for result in run["evaluation"]
    ]


def outputs(notebook):
    """The stored text of all cells."""
    return "\n".join(
        output.get("text", "") for cell in notebook.cells for output in cell.get("outputs", ())
    )


def test_the_chapter_prints_what_is_recorded():
    text = outputs(nbformat.read(CHAPTER, as_version=4))
    assert sorted(stated(text)) == sorted(measured()), (
        "run `tools/notebooks.py execute book/16-translation.ipynb` after a new record"
    )
    for record in RECORDS.values():
        for run in record["runs"]:
            for result in run["evaluation"]:
                assert result["bleu_signature"] in text
                assert result["chrf_signature"] in text


def test_another_figure_would_be_seen():
    name, bleu, *others = measured()[0]
    for score in (bleu, f"{float(bleu) + 0.01:.2f}"):
        line = f"→  {name:20}  {score}  -1.10  {'  '.join(others)}"
        assert stated(line) == [(name, score, *others)]
        assert ((name, score, *others) in measured()) == (score == bleu)


def test_every_run_says_how_it_was_made(record):
    for run in record["runs"]:
        assert re.match(r"python -m (torch.+ -m )?transformer train", run["command"])
        assert re.match(r"[0-9a-f]{40}", run["commit"])
        for name in ("date", "processor", "cores", "threads", "torch"):
            assert run[name], name
        assert run["seed"] == run["settings"]["training"]["seed"]
        assert run["threads"] == run["settings"]["training"]["threads"]


def test_scores_are_counted_on_the_tokens_of_the_test_file(record):
    for run in record["runs"]:
        for result in run["evaluation"]:
            assert "tok:none" in result["bleu_signature"]
            assert result["sentences"] == {"val": 1014}.get(result["split"], 1000)


def test_no_more_than_a_handful_is_quoted():
    assert len(recorded_runs.quoted()) <= HANDFUL


def test_a_run_that_goes_on_has_the_seed_it_began_with():
    first = {"name": "first", "seed": 5}
    longer = {**first, "name": "longer", "seed": 6, "continues": "first"}
    assert recorded_runs.first_seed(longer, {"runs": [first, longer]}) == 5
    assert recorded_runs.first_seed(longer | {"continues": None}, {"runs": [first]}) == 6
