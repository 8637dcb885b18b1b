"""The record of Table 3 in small: rows in the table's order, each run once."""

import json
import shlex

import pytest
import run_variations
from run_variations import ROWS, recipe

from transformer.cli.plan import make_plan
from walkthrough.ch17_variations import experiments
from walkthrough.ch17_variations.rows import SMALL_ROWS, TRAINED, in_small


@pytest.fixture
def trained(monkeypatch):
    """Replace training by a note of what was asked for."""
    asked = []

    def train_row(task, row, *, seed, updates, measured):
        asked.append((row.name, seed, updates))
        measured(150, 2.0)
        return experiments.new_model(task, SMALL_ROWS["base"], seed=1)

    def evaluate(model, task, split):
        return experiments.Scores(perplexity=1.5, bleu=90.0, exact=0.5)

    task = experiments.load_task(train=50, valid=5, test=5)
    monkeypatch.setattr(experiments, "load_task", lambda: task)
    monkeypatch.setattr(experiments, "train_row", train_row)
    monkeypatch.setattr(experiments, "evaluate", evaluate)
    return asked


def record(tmp_path, *words):
    output = tmp_path / "record.json"
    assert run_variations.main([*words, "--output", str(output)]) == 0
    return json.loads(output.read_text())


def test_a_run_is_recorded_once_and_rows_stand_in_the_tables_order(tmp_path, trained):
    words = ["--seeds", "2", "1", "--rows"]
    record(tmp_path, *words, "C N=2", "base")
    found = record(tmp_path, *words, "C N=2", "A h=1", "base", "--resume")
    assert [(run["row"], run["seed"]) for run in found["runs"]] == [
        *(("base", 1), ("base", 2)),
        *(("A h=1", 1), ("A h=1", 2)),
        *(("C N=2", 1), ("C N=2", 2)),
    ]
    assert len(trained) == 6
    assert {"command", "commit", "date", "hardware", "settings", "corpus"} <= set(found)
    run = found["runs"][2]
    assert run["changes"] == {"n_heads": 1, "d_k": 64, "d_v": 64}
    assert run["curve"] == [[150, 2.0]]
    assert run["commit"] == found["commit"]
    again = record(tmp_path, *words, "A h=1")
    assert [run["row"] for run in again["runs"]] == [run["row"] for run in found["runs"]]
    assert len(trained) == 8


def test_all_small_rows_are_trained_on_the_phrasebook_and_one_a_letter_on_multi30k():
    assert sorted(ROWS["phrasebook"]) == sorted(TRAINED)
    assert [TRAINED[name].group for name in ROWS["multi30k"]] == ["base", *"ABCDE"]


def test_an_unknown_row_is_refused(capsys):
    with pytest.raises(SystemExit):
        run_variations.main(["--rows", "C N=3"])
    assert "no row 'C N=3': choose from 'base'" in capsys.readouterr().err


def test_a_row_of_multi30k_is_a_command_line_that_looks_at_validation_alone():
    found = recipe(SMALL_ROWS["C d_model=256"], seed=2)
    options = shlex.split(found.options)
    assert {"model.d_model=64", "model.d_k=8", "model.n_layers=3", "model.d_ff=512"} <= set(options)
    assert "training.peak=0.00424264" in options  # √2 times 3e-3
    assert options[options.index("--seed") + 1] == "2"
    assert (found.fully, found.split) == (False, "val")
    smoothing = shlex.split(recipe(SMALL_ROWS["D smoothing=0.0"], seed=1).options)
    assert "training.smoothing=0.0" in smoothing


@pytest.mark.parametrize("name", TRAINED)
def test_the_command_line_makes_the_model_of_the_row(name):
    options = shlex.split(recipe(TRAINED[name], seed=1).options)
    plan = make_plan("multi30k-tiny", None, [o for o in options if "=" in o])
    config = plan.config(TRAINED[name].config.vocab_size)
    assert config == in_small(TRAINED[name], width=4, depth=2, max_len=256)
    assert plan.training.smoothing == TRAINED[name].smoothing


def test_multi30k_is_trained_measured_and_recorded(tmp_path, monkeypatch):
    done = []
    evaluation = [{"split": "val", "bleu": 30.0}]
    point = {"update": 1500, "valid_perplexity": 9.0}
    monkeypatch.setattr(run_variations, "train", lambda folder, recipe: done.append(folder.name))
    monkeypatch.setattr(run_variations, "evaluate", lambda folder, **settings: None)
    monkeypatch.setattr(run_variations, "results_of", lambda folder: {"evaluation": evaluation})
    monkeypatch.setattr(
        run_variations,
        "read_run",
        lambda folder: {"seed": 1, "settings": {"data": {"folder": "x"}}, "curve": [point]},
    )
    words = ("multi30k", "--rows", "A h=1", "base", "--seeds", "1")
    found = record(tmp_path, *words)
    assert [run["row"] for run in found["runs"]] == ["base", "A h=1"]
    assert found["runs"][0]["val"] == {"perplexity": 9.0, "bleu": 30.0}
    assert found["runs"][0]["settings"]["data"]["folder"] is None
    record(tmp_path, *words)
    assert done == ["variation-A-h-1-1", "variation-base-1"]
