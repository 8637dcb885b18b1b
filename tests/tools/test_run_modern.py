"""The record of chapter 20 holds every run once, and goes on where it stopped."""

import json

import pytest
import run_modern

from walkthrough.ch20_what_came_after import experiments


@pytest.fixture
def calls(monkeypatch):
    """Return the runs that were asked for; none of them trains."""
    made = []

    def measured(*given, **named):
        made.append((given, named))
        return {"loss": 0.12345678}

    for name in ("block_run", "without_positions_run", "decoder_run", "bert_run", "image_run"):
        monkeypatch.setattr(experiments, name, measured)
    monkeypatch.setattr(experiments, "load_corpus", lambda: None)
    return made


def keys(path):
    return [json.dumps(run_modern.key_of(run)) for run in json.loads(path.read_text())["runs"]]


def test_every_run_is_recorded_once_with_its_settings(tmp_path, calls):
    output = tmp_path / "record.json"
    assert run_modern.main(["--seeds", "1", "2", "--output", str(output)]) == 0
    found = keys(output)
    assert len(set(found)) == len(found) == len(calls)
    n_blocks, n_rates = len(experiments.BLOCKS) + 1, len(run_modern.RATE_BLOCKS)
    parts = [json.loads(key)["part"] for key in found]
    assert parts.count("block") == 2 * len(run_modern.PEAKS) * n_blocks
    assert parts.count("rate") == 2 * 2 * len(run_modern.RATE_PEAKS) * n_rates
    record = json.loads(output.read_text())
    assert record["runs"][0]["loss"] == 0.1235
    assert {"command", "commit", "date", "hardware", "settings"} <= set(record)


def test_an_interrupted_command_makes_only_what_is_missing(tmp_path, calls):
    output = tmp_path / "record.json"
    words = ["--seeds", "1", "--parts", "encoder", "--output", str(output)]
    run_modern.main(words)
    record = json.loads(output.read_text())
    gone = record["runs"].pop(1)
    record["commit"] = "another"
    output.write_text(json.dumps(record))
    calls.clear()
    run_modern.main([*words, "--resume"])
    assert len(calls) == 1
    last = json.loads(output.read_text())["runs"][-1]
    assert run_modern.key_of(last) == run_modern.key_of(gone)
    assert last["commit"] == run_modern.git("rev-parse", "HEAD")


def test_without_resume_what_is_asked_for_is_made_again_and_the_rest_stays(tmp_path, calls):
    output = tmp_path / "record.json"
    words = ["--seeds", "1", "--output", str(output), "--parts"]
    run_modern.main([*words, "encoder", "bert"])
    record = json.loads(output.read_text())
    output.write_text(json.dumps({**record, "commit": "another"}))
    n_made = len(calls)
    calls.clear()
    run_modern.main([*words, "encoder"])
    found = json.loads(output.read_text())
    by_part = {
        part: [r for r in found["runs"] if r["part"] == part] for part in ("encoder", "bert")
    }
    assert len(calls) == len(by_part["encoder"]) == n_made - len(by_part["bert"])
    assert {run["commit"] for run in by_part["bert"]} == {"another"}
    assert not any("commit" in run for run in by_part["encoder"])


def test_a_tenth_of_the_updates_warms_up():
    recipe = run_modern.recipe_of("block", 1.0, peak=0.01)
    assert (recipe.updates, recipe.warmup, recipe.peak) == (250, 25, 0.01)
    assert run_modern.recipe_of("rate", 0.01).updates == 10


def test_what_is_compared_in_pairs_gets_more_seeds_unless_seeds_are_given():
    found = run_modern.plan(None, ["block", "bert"])
    assert [seed for seed, part in found if part == "block"] == [1, 2, 3, 4, 5, 6]
    assert [seed for seed, part in found if part == "bert"] == [1, 2, 3]
    assert (6, "optimiser") in run_modern.plan(None, ["optimiser"])
    assert run_modern.plan([7], ["block"]) == [(7, "block")]
    assert run_modern.plan(None, ["rate"]) == [(1, "rate"), (2, "rate"), (3, "rate")]
