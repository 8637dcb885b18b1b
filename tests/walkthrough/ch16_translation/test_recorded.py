"""Chapter 16's part of the lab notebook states what the records hold."""

import re
from pathlib import Path

import pandas as pd
import pytest

from walkthrough.ch16_translation.experiments import older, published

ROOT = Path(__file__).parents[3]
SECTION = (ROOT / "book" / "lab-notebook.md").read_text("utf-8").split("## 16 Translation")[1]
OLDER = pd.concat([e.frame() for e in older.EXPERIMENTS])
CHOSEN = f"{older.TEST}/chosen/bleu"
BEAM = f"{older.TEST}/beam5-a0.6/bleu"


def with_range(values):
    words = f"{values.mean():.2f}"
    return words if len(values) == 1 else f"{words} ({values.min():.2f} to {values.max():.2f})"


@pytest.mark.parametrize(("row", "runs"), list(OLDER.groupby("row")))
def test_the_lab_notebook_states_the_first_runs_as_recorded(row, runs):
    (updates,) = set(runs["updates"])
    valid = runs[[name for name in runs if name.startswith("val/")]].max(axis=1)
    scores = f"{with_range(valid)} | {with_range(runs[CHOSEN])}"
    counts = f"{len(runs)} | {updates:,.0f}".replace(",", " ")
    assert f"| {row} | {counts} | {scores} |" in SECTION


def test_the_lab_notebook_says_how_often_the_first_runs_looked():
    into_german = OLDER[OLDER["arm"] != "German to English"]
    looks = into_german.filter(like=f"{older.TEST}/").count().sum()
    assert f"the records hold {looks} looks" in SECTION


def test_the_lab_notebook_says_what_the_edge_of_the_grid_gave():
    runs = older.SEEDS.frame().query("arm == 'longer'")
    assert {extra["decoding"] for extra in runs["extra"]} == {"beam5-a1.6-mean5"}
    valid = runs["val/beam5-a1.6-mean5/bleu"] - runs["val/beam5-a0.6-mean5/bleu"]
    test = runs[CHOSEN] - runs[f"{older.TEST}/beam5-a0.6-mean5/bleu"]
    stated = re.search(r"it is (\S+) BLEU better than 0.6 there, and (\S+) worse here", SECTION)
    assert stated.groups() == (f"{valid.mean():.2f}", f"{-test.mean():.2f}")


def test_the_lab_notebook_states_one_large_batch_as_recorded():
    large, small = (OLDER[OLDER["arm"] == arm].iloc[0] for arm in ("one large batch", "the preset"))
    assert f"{large[BEAM]:.2f} BLEU with a beam of 5 after 5 000 updates" in SECTION
    assert f"where the preset has {small[BEAM]:.2f} after 6 000" in SECTION
    assert large["target_tokens"] / 5000 == pytest.approx(small["target_tokens"] / 6000, rel=0.02)


def test_the_lab_notebook_states_the_other_direction_as_recorded():
    run = OLDER[OLDER["arm"] == "German to English"].iloc[0]
    assert f"has {run[f'{older.TEST}/greedy/bleu']:.2f} when it decodes greedily" in SECTION
    assert run["extra"]["decoding"] == "beam5-a1.6-mean5"
    assert f"and {run[CHOSEN]:.2f} with a beam of 5" in SECTION
    tutorial = published.TUTORIAL
    assert (
        f"{tutorial.bleu} BLEU, greedy, with {tutorial.n_parameters / 1e6:.1f} million" in SECTION
    )
