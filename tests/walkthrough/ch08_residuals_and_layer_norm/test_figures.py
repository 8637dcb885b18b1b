"""The figures of chapter 08 hold the numbers they show, and refuse what they cannot draw."""

import pytest
from chart_specs import all_rows, inputs, rows, spec, views

from walkthrough.ch08_residuals_and_layer_norm import figures
from walkthrough.ch08_residuals_and_layer_norm.figures import COLD, KINDS, WARM, Run


def recorded_run(norm="post", residual_init="scaled", warmup=800, perplexities=(300.0, 20.0, 8.0)):
    """One run in the form of `tools/record_run.py`; the last row has no validation."""
    curve = [
        {"update": 200.0 * n, "tokens": 4e5 * n, "loss": 5.0 / n, "valid_perplexity": perplexity}
        for n, perplexity in enumerate((*perplexities, None), start=1)
    ]
    model = {"norm": norm, "residual_init": residual_init}
    return {"settings": {"model": model, "training": {"warmup": warmup}}, "curve": curve}


def record():
    crossed = [(*kind, warmup) for kind in KINDS for warmup in (800, 1)]
    return {
        "runs": [
            recorded_run(*kind, perplexities=(300.0, 20.0, 7.0 + n))
            for n, kind in enumerate(crossed)
        ]
    }


TITLES = {"title": "A title", "x_title": "tokens", "y_title": "perplexity"}


def test_a_record_becomes_runs_of_tokens_and_perplexity():
    runs = figures.recorded_runs(record())
    assert len(runs) == 8
    assert runs[0] == Run("post-norm, small start", True, [(4e5, 300.0), (8e5, 20.0), (12e5, 7.0)])
    assert [run.warm for run in runs] == [True, False] * 4
    assert [run.kind for run in runs[::2]] == list(KINDS.values())


def test_a_record_is_read_by_other_columns():
    (run,) = figures.recorded_runs({"runs": [recorded_run()]}, x="update", y="loss")
    assert run.points[:2] == [(200.0, 5.0), (400.0, 2.5)]


def test_two_runs_of_one_kind_and_no_runs_are_refused():
    with pytest.raises(ValueError, match="got two of post-norm, small start, with warm-up"):
        figures.recorded_runs({"runs": [recorded_run(), recorded_run(warmup=400)]})
    with pytest.raises(ValueError, match="at least one run; got none"):
        figures.recorded_runs({"runs": []})


def test_a_kind_without_a_colour_is_refused():
    with pytest.raises(ValueError, match=r"must be one of .*, got \{'sandwich'\}"):
        figures.training_chart([figures.Run("sandwich", True, [(1, 2.0)])], **TITLES)


def test_the_training_chart_draws_every_point_and_offers_both_kinds_of_runs():
    chart = figures.training_chart(figures.recorded_runs(record()), log_y=True, **TITLES)
    drawn = all_rows(chart)
    assert len(drawn) == 8 * 3
    assert {
        "kind": "pre-norm, full-size start",
        "warmth": COLD,
        "x": 12e5,
        "y": 14.0,
    } in drawn
    assert inputs(chart)["warmth"]["options"] == [WARM, COLD]
    assert {view["transform"][0]["filter"] for view in views(spec(chart))} == {
        "datum.warmth == warmth"
    }


def test_the_axes_do_not_depend_on_the_selector():
    chart = figures.training_chart(figures.recorded_runs(record()), log_y=True, **TITLES)
    for view in views(spec(chart)):
        assert view["encoding"]["y"]["scale"]["domain"] == [7.0, 300.0]
        assert view["encoding"]["x"]["scale"]["domain"] == [4e5, 12e5]


def test_only_runs_that_exist_are_offered():
    chart = figures.training_chart(
        [Run("post-norm, small start", True, [(1, 2.0), (2, 1)])], **TITLES
    )
    assert "warmth" not in inputs(chart)  # a menu of one would choose nothing
    (chosen,) = [one for one in chart.to_dict()["params"] if one["name"] == "warmth"]
    assert chosen["value"] == WARM


def test_seeds_are_dots_beside_the_mean():
    mean = Run("pre-norm, small start", False, [(1e-3, 1.0), (1e-2, 0.5)])
    seeds = [Run(mean.kind, False, [(1e-3, 0.8), (1e-2, 0.4)])]
    chart = figures.training_chart([mean], seeds=seeds, log_x=True, **TITLES)
    line, _, dots = views(spec(chart))
    assert [row["y"] for row in rows(line)] == [1.0, 0.5]
    assert [row["y"] for row in rows(dots)] == [0.8, 0.4]


def test_the_description_says_where_each_run_ends():
    chart = figures.training_chart(figures.recorded_runs(record()), log_y=True, **TITLES)
    assert "post-norm, full-size start, with warm-up: 9;" in spec(chart)["description"]


@pytest.mark.parametrize("perplexity", [float("nan"), float("inf"), 0.0])
def test_a_perplexity_that_cannot_be_drawn_is_refused(perplexity):
    runs = [Run("pre-norm, small start", True, [(1, perplexity)])]
    with pytest.raises(ValueError, match=r"needs finite values|needs values above 0"):
        figures.training_chart(runs, log_y=True, **TITLES)


def measured():
    return {
        n: {"no residual": {"encoder": [1.0] * n, "decoder": [0.0] * (n - 1) + [0.5]}}
        for n in (2, 4)
    }


def test_the_depth_explorer_has_a_row_a_layer_and_a_floor_for_nothing():
    chart = figures.depth_explorer(measured(), start=4)
    drawn = [row for row in all_rows(chart) if row["n_layers"] == 4 and row["side"] == "decoder"]
    assert [row["y"] for row in drawn] == [figures.FLOOR] * 3 + [0.5]
    assert [row["x"] for row in drawn] == [1, 2, 3, 4]
    bound = inputs(chart)
    assert bound["n_layers"]["options"] == [2, 4]
    assert bound["side"]["options"] == ["encoder", "decoder"]
    assert "no residual: 1e-09 at the lowest, 0.5 at the highest" in spec(chart)["description"]


def test_depths_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"one of \[2, 4\], got 3"):
        figures.depth_explorer(measured(), start=3)
    wrong = {2: {"no residual": {"encoder": [1.0]}}}
    with pytest.raises(ValueError, match="got 1 for 2 layers"):
        figures.depth_explorer(wrong, start=2)


@pytest.mark.parametrize(("last", "form"), [(0.01, "~g"), (200, "~s"), (2e6, "~s")])
def test_numbers_of_the_axis_are_written_without_exponents(last, form):
    """ "~g" writes 100 as 1e+2."""
    chart = figures.training_chart(
        [Run("pre-norm, small start", True, [(0, 1.0), (last, 2)])], **TITLES
    )
    assert {view["encoding"]["x"]["axis"]["format"] for view in views(spec(chart))} == {form}
