"""A record made again is compared run by run, whatever their order, times left out."""

import json

import pytest
from compare_records import compare, figure_of, main

OLD = {
    "commit": "a",
    "runs": [
        {"seed": 1, "kind": "post", "cpu_seconds": 9.5, "curve": [{"loss": 2.5}, {"loss": 1.25}]},
        {"seed": 2, "kind": "post", "cpu_seconds": 9.5, "curve": [{"loss": 2.0}, {"loss": 1.0}]},
    ],
}


def again(loss, seed=2):
    run = {
        "seed": seed,
        "kind": "post",
        "cpu_seconds": 2.0,
        "curve": [{"loss": 2.0}, {"loss": loss}],
    }
    return {"commit": "b", "runs": [run]}


def test_the_same_run_is_the_same_to_the_last_digit():
    assert compare(OLD, again(1.0)) == {"curve.loss": (2, 2, 0.0, 0.0)}


def test_the_largest_difference_is_told():
    (found,) = compare(OLD, again(0.99)).values()
    assert found == (2, 1, pytest.approx(0.01), pytest.approx(0.01))


def test_a_run_is_compared_with_its_own_settings_not_with_the_nearest_figures():
    old = {
        "runs": [
            {"seed": 1, "places": ["a"], "smoothing": 0.0, "bleu": 88.0},
            {"seed": 1, "places": ["a"], "smoothing": 0.1, "bleu": 85.0},
            {"seed": 1, "places": ["a", "b"], "smoothing": 0.1, "bleu": 88.0},
        ]
    }
    new = {"runs": [{"seed": 1, "places": ["a"], "smoothing": 0.1, "bleu": 88.0}]}
    assert compare(old, new)["bleu"][2] == 3.0
    assert compare(old, {"runs": [{"seed": 9, "bleu": 88.0}]}) == {}


def test_figures_are_named_without_places():
    assert figure_of("curve[12].scores[0].bleu") == "curve.scores.bleu"


def test_a_record_with_nothing_to_compare_fails(tmp_path, capsys):
    for name, record in (("old", OLD), ("new", again(0.5)), ("empty", {"runs": []})):
        (tmp_path / name).write_text(json.dumps(record))
    assert main([str(tmp_path / "old"), str(tmp_path / "new")]) == 0
    assert "curve.loss" in capsys.readouterr().out
    assert main([str(tmp_path / "old"), str(tmp_path / "empty")]) == 1
