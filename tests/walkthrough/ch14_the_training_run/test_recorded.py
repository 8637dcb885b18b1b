"""Chapter 14 states what `results/phrasebook.json` records, and the record is of this recipe."""

import re
from pathlib import Path

import nbformat
import pytest

from transformer.cli.plan import make_plan
from walkthrough.page.results import recorded

ROOT = Path(__file__).parents[3]
CHAPTER = ROOT / "book" / "14-the-training-run.ipynb"
LINE = re.compile(r"seed (\d+): sentences ([\d.]+)%, combinations ([\d.]+)%")


@pytest.fixture(scope="module")
def record():
    return recorded("phrasebook")


def stated(text):
    """What a text says of each seed: shares of exact sentences and combinations, in percent."""
    return {int(seed): (float(a), float(b)) for seed, a, b in LINE.findall(text)}


def measured(record):
    """What the record says, rounded as the chapter rounds."""
    return {
        run["seed"]: tuple(
            float(f"{100 * run['exact'][name]:.1f}")
            for name in ("test_sentences", "test_combinations")
        )
        for run in record["runs"]
    }


def outputs(notebook):
    """The stored text of all cells."""
    return "\n".join(
        output.get("text", "") for cell in notebook.cells for output in cell.get("outputs", ())
    )


def test_the_chapter_prints_what_is_recorded(record):
    text = outputs(nbformat.read(CHAPTER, as_version=4))
    assert stated(text) == measured(record)


def test_another_figure_would_be_seen(record):
    seed, (sentences, combinations) = next(iter(measured(record).items()))
    wrong = f"seed {seed}: sentences {sentences:.1f}%, combinations {combinations - 0.1:.1f}%"
    assert stated(wrong)[seed] != measured(record)[seed]


def test_three_seeds_reach_the_figures(record):
    assert len({run["seed"] for run in record["runs"]}) >= 3
    for run in record["runs"]:
        assert run["exact"]["test_sentences"] >= 0.99
        assert run["exact"]["test_combinations"] >= 0.90


def test_the_record_is_of_this_recipe_and_says_how_it_was_made(record):
    plan = make_plan("phrasebook", None)
    settings = record["settings"]
    assert settings["model"] == plan.model
    kept = {name: settings["training"][name] for name in ("max_updates", "max_tokens", "schedule")}
    assert kept == {name: getattr(plan.training, name) for name in kept}
    for name in ("warmup", "peak", "smoothing"):
        assert settings["training"][name] == getattr(plan.training, name)
    assert record["command"].startswith("python tools/run_phrasebook.py")
    assert re.fullmatch(r"[0-9a-f]{40}", record["commit"])
    for name in ("date", "hardware", "versions", "threads", "corpus"):
        assert record[name], name
