"""Chapter 16's part of the lab notebook states what the records hold."""

from pathlib import Path

import pytest

from walkthrough.ch16_translation.experiments import protocol, recipe

ROOT = Path(__file__).parents[3]
SECTION = (ROOT / "book" / "lab-notebook.md").read_text("utf-8").split("## 16 Translation")[1]
ROWS = {
    "our recipe": "our recipe, with R-Drop",
    "without R-Drop": "without R-Drop, twice the captions",
    "the paper's": "as the paper prints it",
}
HOUR = recipe.EXPERIMENT.frame()


def with_range(values):
    return f"{values.mean():.2f} ({values.min():.2f} to {values.max():.2f})"


@pytest.mark.parametrize(("arm", "row"), ROWS.items())
def test_the_lab_notebook_states_the_hour_as_recorded(arm, row):
    runs = HOUR[HOUR["arm"] == arm]
    scores = [with_range(runs[f"{split}/chosen/bleu"]) for split in recipe.TESTS]
    assert f"| {row} | {' | '.join(scores)} |" in SECTION


def test_the_lab_notebook_says_on_which_sets_r_drop_is_ahead():
    means = HOUR.groupby("arm")[[f"{split}/chosen/bleu" for split in recipe.TESTS]].mean()
    ahead = (means.loc["our recipe"] > means.loc["without R-Drop"]).tolist()
    assert ahead == [True, False, False]
    assert "is behind on one test set and ahead on two" in SECTION


def test_the_lab_notebook_states_starts_and_tokens_of_the_protocol():
    frame = protocol.EXPERIMENT.frame()
    stood = [extra["xavier"]["valid_perplexity"] for extra in frame["extra"] if "xavier" in extra]
    assert (round(min(stood)), round(max(stood)), len(stood)) == (26, 30, 3)
    read = (frame.groupby("arm")["target_tokens"].agg(["min", "max"]) / 1e6).round()
    assert read.loc["published"].tolist() == [28, 46]
    assert read.loc["ours"].tolist() == [55, 55]
    assert "28 to 46 million target tokens" in SECTION
    assert "ours read 55" in SECTION
