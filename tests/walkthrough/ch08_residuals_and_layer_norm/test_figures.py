"""The figures of chapter 08 hold the numbers they show, and refuse what they cannot draw."""

import pytest
from chart_specs import all_rows, inputs, rows, spec, views

from walkthrough.ch08_residuals_and_layer_norm import figures
from walkthrough.ch08_residuals_and_layer_norm.experiments import captions, norms
from walkthrough.ch08_residuals_and_layer_norm.experiments.norms import KINDS, ONE_STACK
from walkthrough.ch08_residuals_and_layer_norm.figures import Run

KIND, OTHER = list(KINDS.values())[:2]
TITLES = {"title": "A title", "x_title": "update", "y_title": "perplexity"}
THREE = [Run(KIND, "long", [(1, y), (2, y / 2)]) for y in (4.0, 8.0, 6.0)]


def test_runs_of_copying_say_their_kind_and_schedule():
    found = figures.copying_runs(norms.EXPERIMENT.frame())
    assert {run.kind for run in found} == {*KINDS.values(), *ONE_STACK.values()}
    schedules = {f"peak {peak}, warm-up 50" for peak in ("0.0025", "0.005", "0.01")}
    assert {run.group for run in found} - schedules == {
        "peak 0.005, warm-up 200",
        "peak 0.005, no warm-up",
    }
    assert all(len(run.points) == 40 for run in found)


def test_runs_on_captions_say_their_length_and_keep_validations_alone():
    found = figures.caption_runs(captions.SHORT.frame())
    assert {run.kind for run in found} == set(KINDS.values())
    assert [run.group for run in found] == ["1500 updates"] * 12
    assert [update for update, _ in found[0].points] == [250, 500, 750, 1000, 1250, 1500]


def test_the_line_of_a_kind_is_the_median_of_its_seeds():
    assert figures.middle(THREE) == [Run(KIND, "long", [(1, 6.0), (2, 3.0)])]


def test_a_kind_without_a_colour_is_refused():
    with pytest.raises(ValueError, match=r"must be one of .*, got \{'sandwich'\}"):
        figures.training_chart([Run("sandwich", "long", [(1, 2.0)])], **TITLES)


def test_the_training_chart_draws_medians_and_every_seed():
    chart = figures.training_chart([*THREE, Run(OTHER, "short", [(1, 9.0)])], **TITLES)
    thin, line, _ = views(spec(chart))
    assert len({row["seed"] for row in rows(thin)}) == 4
    assert {"kind": KIND, "group": "long", "x": 2, "y": 3.0} in rows(line)
    assert inputs(chart)["group"]["options"] == ["long", "short"]
    assert {view["transform"][0]["filter"] for view in (thin, line)} == {"datum.group == group"}


def test_the_axes_do_not_depend_on_the_selector():
    chart = figures.training_chart([*THREE, Run(OTHER, "short", [(9, 9.0)])], log_y=True, **TITLES)
    for view in views(spec(chart)):
        assert view["encoding"]["y"]["scale"]["domain"] == [2.0, 9.0]
        assert view["encoding"]["x"]["scale"]["domain"] == [1, 9]


def test_a_menu_of_one_is_left_out_and_so_are_seeds_that_are_the_line():
    chart = figures.training_chart(THREE[:1], **TITLES)
    assert "group" not in inputs(chart)
    assert len(list(views(spec(chart)))) == 2


def test_the_description_says_where_each_kind_ends():
    chart = figures.training_chart(THREE, **TITLES)
    assert "post-norm, small start, long: 3." in spec(chart)["description"]


@pytest.mark.parametrize("perplexity", [float("nan"), float("inf"), 0.0])
def test_a_perplexity_that_cannot_be_drawn_is_refused(perplexity):
    runs = [Run(KIND, "long", [(1, perplexity)])]
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
