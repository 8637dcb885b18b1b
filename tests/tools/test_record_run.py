"""A run folder becomes a record; a run that is not finished or not measured is refused."""

import json
from pathlib import Path

import pytest
import record_run

HEADER = "update,epoch,loss,rate,gradient_norm,tokens,tokens_per_second,seconds,valid_perplexity\n"


def folder(
    path: Path, *, last: int = 20, evaluation: list | None = None, start: str | None = None
) -> Path:
    path.mkdir()
    settings = {
        "model": {"d_model": 8},
        "training": {"max_updates": 20, "seed": 7},
        "data": {"corpus": "phrasebook"},
        "command": "python -m transformer train" + (f" --start-from {start}" if start else ""),
        "commit": "abc",
        "pairs": {"number": 3},
    }
    (path / "settings.json").write_text(json.dumps(settings))
    rows = f"10,0,3.5,0.1,1.0,100,50.0,2.0,\n{last},1,2.25,0.1,1.0,200,50.0,4.0,9.123456\n"
    (path / "log.csv").write_text(HEADER + rows)
    scores = [{"bleu": 40.0}] if evaluation is None else evaluation
    (path / "results.json").write_text(
        json.dumps({"training": [{"peak_memory_mb": 512}], "evaluation": scores})
    )
    return path


def test_a_record_holds_settings_curve_and_scores(tmp_path):
    output = tmp_path / "record.json"
    assert record_run.main([str(folder(tmp_path / "run")), str(output)]) == 0
    (run,) = json.loads(output.read_text())["runs"]
    assert (run["seed"], run["commit"]) == (7, "abc")
    assert (run["name"], run["peak_memory_mb"]) == ("run", 512)
    assert run["evaluation"] == [{"bleu": 40.0}]
    assert [point["update"] for point in run["curve"]] == [20]  # where it was validated
    assert run["curve"][0]["valid_perplexity"] == 9.1235


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"last": 15}, "a run of 20 updates stopped at 15"),
        ({"evaluation": []}, "no evaluation"),
    ],
)
def test_unfinished_runs_are_refused(tmp_path, change, message):
    with pytest.raises(ValueError, match=message):
        record_run.run(folder(tmp_path / "run", **change))


def test_a_run_that_went_on_from_another_has_its_curve_too(tmp_path):
    first = folder(tmp_path / "first")
    start = "runs/first/checkpoints/000020.safetensors"
    longer = folder(tmp_path / "longer", start=start)
    output = tmp_path / "record.json"
    assert record_run.main([str(first), str(longer), str(output)]) == 0
    alone, joined = json.loads(output.read_text())["runs"]
    assert joined["continues"] == "first"
    assert [point["update"] for point in joined["curve"]] == [20, 40]
    assert [point["tokens"] for point in joined["curve"]] == [200, 400]
    assert joined["curve"][-1]["valid_perplexity"] == alone["curve"][-1]["valid_perplexity"]


@pytest.mark.parametrize("recorded", [0, 2])
def test_a_run_may_go_on_from_one_that_went_on(tmp_path, recorded):
    names = ["first", "longer", "longest"]
    starts = [None, *(f"runs/{name}/checkpoints/000020.safetensors" for name in names[:2])]
    runs = [
        record_run.run(folder(tmp_path / name, start=start))
        for name, start in zip(names, starts, strict=True)
    ]
    read_back = record_run.with_beginnings(runs[:recorded])  # as a record holds them
    first, longer, longest = record_run.with_beginnings(read_back + runs[recorded:])
    assert (longer["continues"], longest["continues"]) == ("first", "longer")
    assert [point["update"] for point in longest["curve"]] == [20, 40, 60]
    assert [point["tokens"] for point in longest["curve"]] == [200, 400, 600]
    assert first["curve"] == longest["curve"][:1]


def test_a_beginning_that_is_not_there_is_asked_for(tmp_path):
    longer = folder(tmp_path / "longer", start="runs/first/checkpoints/000020.safetensors")
    with pytest.raises(ValueError, match="record it together with first"):
        record_run.with_beginnings([record_run.run(longer)])
