"""The record of the copying task crosses everything that chapter 08 compares."""

import json

import run_norms

from walkthrough.ch08_residuals_and_layer_norm.figures import KINDS
from walkthrough.lab import copying


def test_a_record_holds_each_kind_rate_and_seed_once(tmp_path, monkeypatch):
    asked = []

    def train(norm, residual_init, *, warmup, seed, peak, updates):
        asked.append((norm, residual_init, warmup, peak, seed))
        assert updates == 7
        return copying.new_model(norm, residual_init, seed=seed, n_layers=1), []

    monkeypatch.setattr(copying, "train", train)
    output = tmp_path / "record.json"
    words = ["--seeds", "0", "1", "--peaks", "0.01", "0.02", "--updates", "7"]
    assert run_norms.main([*words, "--output", str(output)]) == 0
    record = json.loads(output.read_text())
    names = ("norm", "residual_init", "warmup", "peak", "seed")
    assert [tuple(run[name] for name in names) for run in record["runs"]] == asked
    assert len(set(asked)) == len(KINDS) * 2 * 2 * 2
    assert {run["warmup"] for run in record["runs"]} == {1, copying.WARMUP}
    assert all(1 < run["loss"] < 6 for run in record["runs"])
    assert {"command", "commit", "date", "hardware", "settings"} <= set(record)
