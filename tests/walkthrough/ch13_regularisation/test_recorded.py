"""Chapter 13 and the lab notebook state what the records hold, and say no more than they show."""

import re
from pathlib import Path
from statistics import fmean

import pytest

from walkthrough.ch13_regularisation import experiments
from walkthrough.page.results import recorded

NOTEBOOK = Path(__file__).parents[3] / "book" / "lab-notebook.md"
PLACES = {
    "both places": experiments.PAPER,
    "sub-layers only": (experiments.SUBLAYERS,),
    "embedding only": (experiments.EMBEDDING,),
    "nowhere": (),
}


@pytest.fixture(scope="module")
def dropouts():
    return recorded("phrasebook-dropout")


@pytest.mark.parametrize("name", PLACES)
def test_the_lab_notebooks_table_of_places_is_the_record(name):
    section = NOTEBOOK.read_text(encoding="utf-8").split("### The places of dropout")[1]
    row = re.search(rf"^\| {name} \|(.*)\|$", section, re.MULTILINE).group(1)
    runs = experiments.runs_where(
        recorded("phrasebook-smoothing"), smoothing=0.1, places=PLACES[name]
    )
    seen, unseen, tempered, words, exact, bleu = (
        fmean(run[key] for run in runs)
        for key in (
            "train_perplexity",
            "perplexity",
            "tempered_perplexity",
            "next_word",
            "exact",
            "bleu",
        )
    )
    wanted = [seen, unseen, unseen / seen, tempered, 100 * words, 100 * exact, bleu]
    stated = [cell.strip() for cell in row.split("|")]
    digits = [len(cell.partition(".")[2]) for cell in stated]
    assert stated == [f"{value:.{n}f}" for value, n in zip(wanted, digits, strict=True)]


def of(record, p, update, name):
    """One figure of every seed at one update."""
    return [
        point[name]
        for run in record["runs"]
        if run["dropout"] == p
        for point in run["points"]
        if point["update"] == update
    ]


def test_the_record_has_three_seeds_of_each_dropout(dropouts):
    for p in experiments.PROBABILITIES:
        seeds = {run["seed"] for run in dropouts["runs"] if run["dropout"] == p}
        assert len(seeds) >= 3
    assert dropouts["settings"]["training"]["smoothing"] == 0
    assert dropouts["settings"]["pairs"] == experiments.N_FEW


def test_dropout_costs_early_and_pays_late(dropouts):
    """What the chapter says of the two ends of the curves, in every seed."""
    early = [of(dropouts, p, 200, "unseen") for p in experiments.PROBABILITIES]
    assert max(early[0]) < min(early[1]) <= max(early[1]) < min(early[2])
    for p in (0.1, 0.3):
        late = of(dropouts, p, experiments.LONG, "unseen")
        assert max(late) < min(of(dropouts, 0.0, experiments.LONG, "unseen"))
        words = of(dropouts, p, experiments.LONG, "next_word")
        assert min(words) > max(of(dropouts, 0.0, experiments.LONG, "next_word"))
    exact = {
        p: [run["exact"] for run in dropouts["runs"] if run["dropout"] == p]
        for p in (0.0, 0.1, 0.3)
    }
    assert max(exact[0.0]) < min(*exact[0.1], *exact[0.3])
    assert max(of(dropouts, 0.1, 300, "unseen")) < min(of(dropouts, 0.0, 300, "unseen"))
    assert max(of(dropouts, 0.3, 550, "unseen")) < min(of(dropouts, 0.0, 550, "unseen"))
