"""The third seeds are decoded as was chosen before them, and look at each test set once."""

import json

import pytest
import run_recipe
import run_third_seeds as tool

CHOSEN = {
    "no-r-drop": {"beam": 5, "alpha": 2.2, "average": 10},
    "paper": {"beam": 4, "alpha": 0.6, "average": 5},
}


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """What was trained and scored, in order."""
    done = []

    def train(folder, recipe):
        done.append((folder.name, recipe.options))

    def evaluate(folder, split, decoding, *, output=None):
        done.append((folder.name, split, decoding, output))

    def as_recorded(folder):
        mine = [one for one in done if one[0] == folder.name and len(one) == 4]
        return {"name": folder.name, "evaluation": [{"split": split} for _, split, *_ in mine]}

    monkeypatch.setattr(tool, "RECORD", tmp_path / "third.json")
    monkeypatch.setattr(tool, "committed", lambda: {"decoding": CHOSEN})
    monkeypatch.setattr(tool, "train", train)
    monkeypatch.setattr(tool, "evaluate", evaluate)
    monkeypatch.setattr(tool, "as_recorded", as_recorded)
    monkeypatch.setattr(tool, "counted", lambda folder, row: {split: [[1]] for split in row.tests})
    return done


def test_a_control_has_the_options_of_its_first_seeds(asked):
    tool.main([])
    trained = dict(one for one in asked if len(one) == 2)
    assert list(trained) == ["no-r-drop-3", "paper-3"]
    for name, options in trained.items():
        row = name.removesuffix("-3")
        first = run_recipe.all_runs()[f"{row}-1"].options
        assert options == first.replace("--seed 1 ", "--seed 3 ")
        assert options != first
        assert f"{row}-3" not in run_recipe.all_runs()


def test_decoding_is_what_was_committed_and_each_test_is_looked_at_once(asked):
    tool.main(["--folder", "elsewhere"])
    for row, chosen in CHOSEN.items():
        scored = [one[1:] for one in asked if one[0] == f"{row}-3" and len(one) == 4]
        as_chosen, greedy = tool.Decoding(**chosen), tool.Decoding(**{**chosen, "beam": 1})
        assert scored == [
            ("val", as_chosen, None),
            ("val", greedy, None),
            *((split, as_chosen, f"{split}.txt") for split in run_recipe.TESTS),
        ]
    record = json.loads(tool.RECORD.read_text())
    assert record["looks"] == 6
    assert [run["name"] for run in record["runs"]] == ["no-r-drop-3", "paper-3"]
    assert record["runs"][0]["counts"].keys() == set(run_recipe.TESTS)


def test_a_recorded_run_is_not_made_again(asked):
    tool.main([])
    n_done, text = len(asked), tool.RECORD.read_text()
    tool.main([])
    assert len(asked) == n_done
    assert tool.RECORD.read_text() == text


def test_a_run_that_fails_leaves_the_one_before_it_in_the_record(asked, monkeypatch):
    def fails(folder, recipe):
        if folder.name == "paper-3":
            raise RuntimeError("stopped")

    monkeypatch.setattr(tool, "train", fails)
    with pytest.raises(RuntimeError, match="stopped"):
        tool.main([])
    assert [run["name"] for run in tool.recorded(tool.RECORD)["runs"]] == ["no-r-drop-3"]


def test_nothing_is_trained_before_the_decoding_is_committed(asked, monkeypatch):
    monkeypatch.setattr(tool, "committed", lambda: {"decoding": {"paper": CHOSEN["paper"]}})
    with pytest.raises(ValueError, match=r"no decoding of \['no-r-drop'\] is committed"):
        tool.main([])
    assert not asked


def test_what_it_scores_is_read_from_the_run_folder(asked, tmp_path, monkeypatch):
    folder = tmp_path / "runs" / "paper-3"
    folder.mkdir(parents=True)
    for name in ("as_recorded", "counted"):
        monkeypatch.setattr(tool, name, getattr(run_recipe, name))
    monkeypatch.setattr(run_recipe, "read_run", lambda path: {"settings": {"data": {}}, "x": path})
    found = tool.scored(folder, run_recipe.ROWS["paper"], tool.Decoding(**CHOSEN["paper"]))
    assert found["x"] == folder
    assert found["counts"] == {}  # no translation stands there
