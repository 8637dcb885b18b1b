"""Loss curves draw every point and say where each line ends."""

from chart_specs import all_rows, spec, views

from walkthrough.drawing.loss import loss_curve

RUNS = {
    "training": [(10, 5.0), (20, 2.5), (30, 1.234)],
    "validation": [(10, 5.5), (30, 1.5)],
}


def test_loss_curve_draws_every_point_and_says_where_each_line_ends():
    chart = loss_curve(RUNS)
    names = {row["series"] for row in all_rows(chart)}
    assert names == {"training: 1.23 at the end", "validation: 1.5 at the end"}
    drawn = [(row["x"], row["y"]) for row in all_rows(chart) if row["series"].startswith("train")]
    assert drawn == RUNS["training"]
    assert "goes from 5 at 10 to 1.23 at 30" in spec(chart)["description"]


def test_lines_differ_in_dash_as_well_as_in_colour():
    (line,) = [view for view in views(spec(loss_curve(RUNS))) if "line" in str(view["mark"])]
    for channel in ("color", "strokeDash"):
        shades = line["encoding"][channel]["scale"]["range"]
        assert len({str(shade) for shade in shades}) == len(RUNS)


def test_long_runs_stay_small():
    long = {"training": [(i, 5.0 + 1 / (3 * i)) for i in range(1, 2001)]}
    assert len(loss_curve(long).to_json(indent=None)) < 130_000
