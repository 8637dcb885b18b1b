"""A record holds what was found, refuses what it does not know, and survives a kill."""

import json
from pathlib import Path

import numpy as np
import pytest
from toy import toy

from walkthrough.lab import Arm, Key, store
from walkthrough.lab.store import RecordError, Run

RECORDS = sorted((Path(__file__).parents[3] / "results").glob("*.jsonl"))


def a_run(**changes):
    told = {
        "experiment": "01-toy",
        "arm": "slow",
        "rate": 1,
        "length": 10,
        "seed": 1,
        "phase": "claim",
        "figures": {"valid/-/loss": 1.25, "test/greedy/exact": 1},
        "curve": [[5, "train/-/loss", 2.5]],
        "extra": {"maps": [[0.25, None]]},
        "commit": "abc",
        "date": "2026-01-01",
        "machine": {"cores": 2},
        "versions": {"torch": "2"},
    }
    return Run(**{**told, **changes})


@pytest.mark.parametrize("path", RECORDS, ids=[path.stem for path in RECORDS])
def test_every_record_of_the_book_fits_the_schema(path):
    assert store.read(path, path.stem)


def test_a_run_comes_back_as_it_was_written(tmp_path):
    path = tmp_path / "01-toy.jsonl"
    store.append(path, a_run())
    store.append(path, a_run(seed=2, figures={"valid/-/loss": np.float32(1 / 3)}, curve=[]))
    found = store.read(path, "01-toy")
    assert "β" in a_run(arm="β").to_line()  # as people read it
    assert found[Key("slow", 1, 10, 1)] == a_run()
    assert found[Key("slow", 1, 10, 2)].figures == {"valid/-/loss": 0.33333334}


def test_a_torn_line_is_passed_over_and_gone_after_the_next_run(tmp_path):
    path = tmp_path / "01-toy.jsonl"
    store.append(path, a_run())
    with path.open("a") as file:
        file.write(a_run(seed=2).to_line()[:40])
    assert [key.seed for key in store.read(path)] == [1]
    store.append(path, a_run(seed=3))
    assert [key.seed for key in store.read(path)] == [1, 3]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"figures": {"loss": 1.0}}, "split/decode/measure"),
        ({"figures": {"valid/-/loss": float("nan")}}, "finite number"),
        ({"figures": {"valid/-/loss": "1"}}, "finite number"),
        ({"figures": {}}, "must say why"),
        ({"curve": [[5, 2.5]]}, "a point of a curve"),
        ({"phase": "test"}, "phase must be one of"),
        ({"seed": "1"}, "seed must be int"),
        ({"length": True}, "length must be int"),
    ],
)
def test_a_line_that_is_no_run_is_refused(changes, said):
    told = {**json.loads(a_run().to_line()), **changes}
    with pytest.raises(RecordError, match=rf"line 1: .*{said}"):
        Run.from_line(json.dumps(told), "line 1")


def test_what_could_not_be_read_again_is_not_written(tmp_path):
    path = tmp_path / "01-toy.jsonl"
    with pytest.raises(RecordError, match="finite number"):
        store.append(path, a_run(figures={"valid/-/loss": float("nan")}))
    assert not path.exists()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"schema": store.SCHEMA + 1}, "newer version.*--record"),
        ({"experiment": "05-width"}, "a run of '05-width', not of '01-toy'"),
        ({"lenght": 3}, "did you mean length"),
    ],
)
def test_a_record_that_is_newer_or_of_another_experiment_is_refused(tmp_path, changes, said):
    path = tmp_path / "01-toy.jsonl"
    told = {**json.loads(a_run().to_line()), **changes}
    path.write_text(json.dumps(told) + "\n")
    with pytest.raises(RecordError, match=rf"01-toy.jsonl, line 1.*{said}"):
        store.read(path, "01-toy")


def test_counts_stand_beside_the_record_by_run_and_figure(tmp_path):
    path = tmp_path / "01-toy.jsonl"
    rows = {seed: np.arange(6).reshape(3, 2) + seed for seed in (1, 2)}
    for seed, counted in rows.items():
        store.append(path, a_run(seed=seed), {"test/greedy/exact": counted})
    for seed, counted in rows.items():
        found = store.counts(path, Key("slow", 1, 10, seed), "test/greedy/exact")
        assert np.array_equal(found, counted)
    assert store.counts(path, Key("slow", 1, 10, 3), "test/greedy/exact") is None


def test_tables_of_a_record(tmp_path):
    store.append(store.path_of("01-toy", tmp_path), a_run())
    frame = store.frame("01-toy", folder=tmp_path)
    assert frame.loc[0, ["arm", "seed", "valid/-/loss"]].tolist() == ["slow", 1, 1.25]
    scores = store.scores("01-toy", folder=tmp_path).set_index("measure")
    assert scores.loc["exact", ["split", "decode", "value"]].tolist() == ["test", "greedy", 1.0]
    curves = store.curves("01-toy", folder=tmp_path)
    assert curves.loc[0, ["update", "split", "value"]].tolist() == [5, "train", 2.5]
    store.append(store.path_of("01-toy", tmp_path), a_run(arm="quick"))
    declared = toy(arms=[Arm("quick", labels={"width": 3}), Arm("slow")]).frame(tmp_path)
    assert declared.loc[[0, 1], "arm"].tolist() == ["quick", "slow"]  # as they are declared
    assert declared.loc[0, "width"] == 3


def test_a_record_that_is_not_there_names_the_near_ones(tmp_path):
    store.append(store.path_of("01-toy", tmp_path), a_run())
    with pytest.raises(FileNotFoundError, match="did you mean 01-toy"):
        store.frame("01-tory", folder=tmp_path)


def test_a_figure_may_be_named_by_some_of_its_parts():
    names = ["valid/-/loss", "test/greedy/exact", "test/greedy/bleu", "valid/greedy/exact"]
    assert store.resolve("valid/loss", names) == "valid/-/loss"
    assert store.resolve("test/exact", names) == "test/greedy/exact"
    with pytest.raises(KeyError, match="test/greedy/exact or valid/greedy/exact"):
        store.resolve("exact", names)
    with pytest.raises(KeyError, match="did you mean"):
        store.resolve("test/exat", names)
