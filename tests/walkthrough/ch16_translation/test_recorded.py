"""Chapter 16 and its part of the lab notebook state what the records of Multi30k hold."""

import re
from pathlib import Path
from statistics import fmean

import pytest

from walkthrough.ch16_translation.experiments import published, recorded_runs
from walkthrough.ch16_translation.experiments.choosing import VALIDATION, best_on_validation
from walkthrough.page.results import recorded

ROOT = Path(__file__).parents[3]
SECTION = (ROOT / "book" / "lab-notebook.md").read_text("utf-8").split("## 16 Translation")[1]
RECORDS = {
    name: recorded(name)
    for name in (
        *("multi30k-en-de", "multi30k-de-en", "multi30k-recipe", "multi30k-screens"),
        "multi30k-third-seeds",
    )
}
TEST = "test_2016_flickr"
THREE = ("en-de-2", "en-de-3", "en-de-4")
STAGES = {
    "the preset": ("en-de-1",),
    "the same, two processes, 30 % longer": ("en-de-hour",),
    "the same, two processes, a third as long": ("en-de-12-minutes-longer",),
    "other seeds, longer": THREE,
    "from there on with R-Drop": tuple(f"{name}-r-drop" for name in THREE),
    "and again": tuple(f"{name}-r-drop-again" for name in THREE),
    "and a third time": tuple(f"{name}-r-drop-third" for name in THREE),
}


@pytest.fixture(scope="module", params=RECORDS)
def record(request):
    return RECORDS[request.param]


def first_runs():
    return {run["name"]: run for run in RECORDS["multi30k-en-de"]["runs"]}


def scored(run, split, **wanted):
    """The one BLEU of a run on a split, decoded as wanted."""
    (found,) = [
        result["bleu"]
        for result in run["evaluation"]
        if result["split"] == split and all(result[key] == wanted[key] for key in wanted)
    ]
    return found


def as_chosen(run, split):
    best = best_on_validation(run["evaluation"])
    return scored(run, split, **{key: best[key] for key in ("beam", "average", "alpha")})


def with_range(values):
    words = f"{fmean(values):.2f}"
    return words if len(values) == 1 else f"{words} ({min(values):.2f} to {max(values):.2f})"


def line_of(words):
    """The line that the lab notebook must have for one kind of run."""
    runs = [first_runs()[name] for name in STAGES[words]]
    last = [run["curve"][-1] for run in runs]
    (updates,) = {round(point["update"]) for point in last}
    cells = [
        words,
        str(len(runs)),
        f"{updates:,}".replace(",", " "),
        *(with_range([as_chosen(run, split) for run in runs]) for split in (VALIDATION, TEST)),
    ]
    return f"| {' | '.join(cells)} |"


@pytest.mark.parametrize("words", STAGES)
def test_the_lab_notebook_states_the_first_runs_as_recorded(words):
    assert line_of(words) in SECTION


def test_the_lab_notebook_says_how_often_the_first_runs_looked():
    looks = [r for run in first_runs().values() for r in run["evaluation"] if r["split"] == TEST]
    assert f"the record holds {len(looks)} looks" in SECTION


def test_the_lab_notebook_says_what_the_edge_of_the_grid_gave():
    def gain(split):
        means = [
            fmean(
                scored(first_runs()[name], split, beam=5, average=5, alpha=alpha) for name in THREE
            )
            for alpha in (1.6, 0.6)
        ]
        return means[0] - means[1]

    stated = re.search(r"it is (\S+) BLEU better than 0.6 there, and (\S+) worse here", SECTION)
    assert stated.groups() == (f"{gain(VALIDATION):.2f}", f"{-gain(TEST):.2f}")


def test_the_lab_notebook_states_one_large_batch_as_recorded():
    large, small = (first_runs()[name] for name in ("one-batch-an-update", "en-de-1"))
    for run in (large, small):
        assert f"{scored(run, TEST, beam=5, average=1, alpha=0.6):.2f}" in SECTION
        assert f"{round(run['curve'][-1]['update']):,} updates".replace(",", " ") in SECTION or (
            run is small
        )
    tokens = [run["curve"][-1]["tokens"] / run["curve"][-1]["update"] for run in (large, small)]
    assert tokens[0] == pytest.approx(tokens[1], rel=0.02)


def test_the_lab_notebook_states_the_other_direction_as_recorded():
    (run,) = RECORDS["multi30k-de-en"]["runs"]
    greedy = scored(run, TEST, beam=1)
    assert f"has {greedy:.2f} when it decodes greedily" in SECTION
    best = best_on_validation(run["evaluation"])
    assert (best["beam"], best["average"], best["alpha"]) == (5, 5, 1.6)
    assert f"and {as_chosen(run, TEST):.2f} with a beam of 5" in SECTION
    tutorial = published.TUTORIAL
    assert (
        f"{tutorial.bleu} BLEU, greedy, with {tutorial.n_parameters / 1e6:.1f} million" in SECTION
    )


def test_every_run_says_how_it_was_made(record):
    for run in record["runs"]:
        assert re.match(r"python -m (torch.+ -m )?transformer train", run["command"])
        assert re.match(r"[0-9a-f]{40}", run["commit"])
        for name in ("date", "processor", "cores", "threads", "torch"):
            assert run[name], name
        assert run["seed"] == run["settings"]["training"]["seed"]
        assert run["threads"] == run["settings"]["training"]["threads"]


def test_scores_are_counted_on_the_tokens_of_the_test_file(record):
    sentences = {"val": 1014, "test_2017_mscoco": 461}
    for run in record["runs"]:
        for result in run["evaluation"]:
            assert "tok:none" in result["bleu_signature"]
            assert result["sentences"] == sentences.get(result["split"], 1000)


def test_candidates_looked_at_no_test():
    splits = {r["split"] for run in RECORDS["multi30k-screens"]["runs"] for r in run["evaluation"]}
    assert splits == {VALIDATION}


@pytest.mark.parametrize("name", ["multi30k-recipe", "multi30k-third-seeds"])
def test_each_run_of_the_experiment_looked_once_at_each_test(name):
    for run in RECORDS[name]["runs"]:
        looks = [r["split"] for r in run["evaluation"] if r["split"].startswith("test")]
        assert len(looks) == len(set(looks))
        assert run["settings"]["model"]["n_layers"] == 4
        assert 2.5e6 < recorded_runs.n_parameters(run) < 2.7e6
        assert not run.get("changed_since")


def test_third_seeds_differ_from_the_first_ones_by_the_seed_alone():
    first = {run["name"]: run for run in RECORDS["multi30k-recipe"]["runs"]}
    for run in RECORDS["multi30k-third-seeds"]["runs"]:
        other = first[run["name"].replace("-3", "-1")]
        for part in ("data", "model"):
            assert run["settings"][part] == other["settings"][part]
        seeds = (one["settings"]["training"] | {"seed": None} for one in (run, other))
        assert next(seeds) == next(seeds)
        assert (run["seed"], other["seed"]) == (3, 1)
