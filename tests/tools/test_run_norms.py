"""The record of the copying task crosses everything that chapter 08 compares."""

import json

import run_norms
import torch

from walkthrough.ch08_residuals_and_layer_norm import side_by_side
from walkthrough.ch08_residuals_and_layer_norm.figures import KINDS, ONE_STACK
from walkthrough.lab import copying


def test_a_record_holds_each_kind_and_schedule_once_with_its_curve(tmp_path, monkeypatch):
    asked = []

    def train(recipes, *, updates):
        asked.extend(recipes)
        model = copying.new_model(recipes[0].norm, "scaled", seed=0, n_layers=1)
        return [model for _ in recipes], torch.ones(len(recipes), updates)

    monkeypatch.setattr(side_by_side, "train", train)
    output = tmp_path / "record.json"
    words = ["--seeds", "0", "1", "2", "3", "--updates", "40", "--output", str(output)]
    assert run_norms.main(words) == 0
    record = json.loads(output.read_text())
    names = ("norm", "start", "peak", "warmup", "seed")
    assert [tuple(run[name] for name in names) for run in record["runs"]] == asked
    kinds = {(run["norm"], run["start"]) for run in record["runs"]}
    assert kinds == {*KINDS, *ONE_STACK}
    others = len(run_norms.PEAKS) + len(run_norms.WARMUPS) - 2
    assert len(set(asked)) == len(asked)
    assert len(asked) == 4 * (len(KINDS) + len(ONE_STACK)) + 3 * len(KINDS) * others
    main = [run for run in asked if (run.peak, run.warmup) == (copying.PEAK, copying.WARMUP)]
    assert {run.seed for run in main} == {0, 1, 2, 3}
    assert {run.seed for run in asked if run not in main} == {0, 1, 2}
    assert all(run["curve"] == [[20, 1.0], [40, 1.0]] for run in record["runs"])
    assert {"command", "commit", "date", "hardware", "settings"} <= set(record)
