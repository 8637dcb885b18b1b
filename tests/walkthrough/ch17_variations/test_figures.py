"""The figures of chapter 17 show what the rows and the runs say."""

import pytest
from chart_specs import all_rows, inputs, spec

from walkthrough.ch17_variations import figures
from walkthrough.ch17_variations.rows import ROWS
from walkthrough.lab import Comparison


def compared(row, mean, *, verdict="worse", half=0.5):
    return Comparison(
        experiment="17-table-3",
        ours=row,
        base="base",
        figure="test/-/perplexity",
        unit="per cent",
        lower_is_better=True,
        seeds=(1, 2),
        differences=(mean - half, mean + half),
        mean=mean,
        low=mean - half,
        high=mean + half,
        p=0.01,
        levels=(1.1, 1.1),
        rates=(1, 2),
        of_rates=(3, 3),
        length=600,
        by_rate=(),
        by_length=(),
        beside=(),
        verdict=verdict,
    )


def test_every_row_of_the_table_is_shown_with_the_effects_here_and_there():
    picture = figures.table_by_letter({"A h=1": compared("A h=1", 3.1)})
    assert all(f"{name} " in picture.description for name in ROWS)
    assert "A h=1 +7.3, ours +3.1" in picture.description
    assert picture.markup.count("<svg") == sum(name != "big" for name in ROWS) + 1 + 4


def test_a_model_is_drawn_by_what_its_letter_changes():
    def rects(name, letter):
        return figures._model(ROWS[name], letter).count("<rect")

    assert [rects(f"A h={h}", "A") for h in (1, 4, 16, 32)] == [1, 4, 16, 32]
    assert [rects(name, "C") for name in ("C N=2", "C N=8")] == [4, 16]
    assert figures._model(ROWS["E learned positions"], "E") != figures._model(ROWS["base"], "E")


def test_the_chart_has_a_menu_and_tells_rows_apart_by_their_intervals():
    few = compared("A h=1", -3.0, verdict="too few seeds")
    panels = {
        "long": [compared("A h=1", 3.1), compared("C N=8", 0.1), compared("B d_k=16, wider", 9.0)],
        "captions": [few],
    }
    chart = figures.rows_chart(panels)
    assert inputs(chart)["runs"]["options"] == ["long", "captions"]
    marks = {(r["runs"], r["row"], r["kind"]): r for r in all_rows(chart) if "kind" in r}
    assert marks["long", "A h=1", "the paper"]["x"] == 7.25
    assert "low" in marks["long", "A h=1", "ours, 0 outside of the interval"]
    assert ("long", "C N=8", "ours, 0 inside of it") in marks
    assert ("long", "B d_k=16, wider", "the paper") not in marks  # the paper has no such row
    assert "low" not in marks["captions", "A h=1", "ours, too few pairs for one"]
    assert "captions: A h=1 3.0 per cent better, too few seeds." in spec(chart)["description"]
    with pytest.raises(ValueError, match="needs runs"):
        figures.rows_chart({})
