"""The record of chapter 12 holds every recipe once a seed."""

import json

import run_optimiser
import torch

from walkthrough.ch12_optimiser_and_schedule import experiments
from walkthrough.lab import copying


def test_a_record_holds_each_recipe_and_seed_once(tmp_path, monkeypatch):
    asked = []

    def train(recipe, *, seed, updates):
        asked.append((recipe, seed))
        assert updates == 20
        model = copying.new_model("post", recipe.start, seed=seed, n_layers=1)
        return experiments.Run(model, torch.optim.Adam(model.parameters()), 20 * [2.5])

    monkeypatch.setattr(experiments, "train", train)
    output = tmp_path / "record.json"
    words = ["--seeds", "0", "1", "--updates", "20", "--output", str(output)]
    assert run_optimiser.main(words) == 0
    record = json.loads(output.read_text())
    names = [(run["recipe"], run["seed"]) for run in record["runs"]]
    assert [(experiments.RECIPES[name], seed) for name, seed in names] == asked
    assert len(set(names)) == 2 * len(experiments.RECIPES)
    assert all(1 < run["loss"] < 6 for run in record["runs"])
    assert record["runs"][0]["curve"] == [[10, 2.5], [20, 2.5]]
    assert {"command", "commit", "date", "hardware", "settings"} <= set(record)
