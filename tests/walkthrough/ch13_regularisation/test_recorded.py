"""Chapter 13 and the lab notebook state what the records hold, and say no more than they show."""

import re
from pathlib import Path

import pytest

from walkthrough.ch13_regularisation import experiments
from walkthrough.lab import curves

NOTEBOOK = Path(__file__).parents[3] / "book" / "lab-notebook.md"
ARMS = {"both places": "ε = 0.1"}
"""Rows of the table that are not called like their arms."""


@pytest.mark.parametrize("name", ["both places", "sub-layers only", "embedding only", "nowhere"])
def test_the_lab_notebooks_table_of_places_is_the_record(name):
    section = NOTEBOOK.read_text(encoding="utf-8").split("### The places of dropout")[1]
    row = re.search(rf"^\| {name} \|(.*)\|$", section, re.MULTILINE).group(1)
    runs = experiments.SMOOTHING.frame().query("arm == @ARMS.get(@name, @name)")
    unseen, words, tempered, seen, exact, bleu = (
        runs[figure].mean()
        for figure in experiments.FIGURES
        if not figure.endswith(("confidence", "temperature"))
    )
    wanted = [seen, unseen, unseen / seen, tempered, 100 * words, 100 * exact, bleu]
    stated = [cell.strip() for cell in row.split("|")]
    digits = [len(cell.partition(".")[2]) for cell in stated]
    assert stated == [f"{value:.{n}f}" for value, n in zip(wanted, digits, strict=True)]


def test_dropout_costs_early_and_pays_late():
    """What the chapter says of the two ends of the curves, in every seed."""
    points = curves("13-dropout").set_index(["split", "measure", "update", "arm"]).sort_index()
    unseen, words = (points["value"]["valid", name] for name in ("perplexity", "next_word"))
    exact = experiments.DROPOUT.frame().set_index("arm")["test_sentences/greedy/exact"]
    none, some, much = "p = 0.0", "p = 0.1", "p = 0.3"
    assert unseen[200, none].max() < unseen[200, some].min()
    assert unseen[200, some].max() < unseen[200, much].min()
    for arm, since in ((some, 300), (much, 550)):
        for update in (since, 1000):
            assert unseen[update, arm].max() < unseen[update, none].min()
        assert words[1000, arm].min() > words[1000, none].max()
        assert exact[arm].min() > exact[none].max()
