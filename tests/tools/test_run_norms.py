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
    words = ["--seeds", "0", "1", "--updates", "40", "--output", str(output)]
    assert run_norms.main(words) == 0
    record = json.loads(output.read_text())
    names = ("norm", "start", "peak", "warmup", "seed")
    assert [tuple(run[name] for name in names) for run in record["runs"]] == asked
    kinds = {(run["norm"], run["start"]) for run in record["runs"]}
    assert kinds == {*KINDS, *ONE_STACK}
    schedules = len(run_norms.PEAKS) + len(run_norms.WARMUPS) - 1
    assert len(set(asked)) == len(asked) == 2 * (len(KINDS) * schedules + len(ONE_STACK))
    assert all(run["curve"] == [[20, 1.0], [40, 1.0]] for run in record["runs"])
    assert {"command", "commit", "date", "hardware", "settings"} <= set(record)
