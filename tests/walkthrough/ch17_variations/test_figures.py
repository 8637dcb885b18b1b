"""The figures of chapter 17 show what the rows and the runs say."""

from xml.etree import ElementTree

import pytest
from chart_specs import all_rows, inputs, spec

from transformer.analysis.cost import fit_vocabulary
from walkthrough.ch17_variations import figures
from walkthrough.ch17_variations.rows import ROWS


@pytest.fixture(scope="module")
def explorer():
    return figures.table_explorer()


def test_every_row_but_base_can_be_chosen(explorer):
    assert inputs(explorer)["row"]["options"] == [name for name in ROWS if name != "base"]
    assert spec(explorer)["params"][0]["value"] == "A h=1"


def test_the_words_say_what_changes_and_what_is_printed(explorer):
    lines = {}
    for row in all_rows(explorer):
        if "line" in row:
            lines.setdefault(row["name"], []).append(row["line"])
    assert lines["A h=1"][:2] == ["h 8 → 1, dₖ 64 → 512", "dᵥ 64 → 512"]
    assert lines["C N=2"][2] == "perplexity 6.11 (+1.19), BLEU 23.7 (-2.1)"
    assert lines["C N=2"][3] == "parameters: 33.7 million counted, printed 36"
    assert lines["D dropout=0.2"][0] == "dropout 0.1 → 0.2"
    assert lines["D dropout=0.2"][3].endswith("none printed")


def test_points_and_bars_are_those_of_the_table(explorer):
    rows = all_rows(explorer)
    points = {r["name"]: (r["perplexity"], r["bleu"]) for r in rows if "perplexity" in r}
    assert points == {n: (r.printed.perplexity, r.printed.bleu) for n, r in ROWS.items()}
    keys = {r["name"]: r["millions"] for r in rows if r.get("part") == "queries and keys"}
    assert keys["B d_k=16"] == pytest.approx(keys["A h=1"] / 4, abs=0.01)


def test_a_start_that_is_no_row_is_refused():
    with pytest.raises(ValueError, match="C N=3"):
        figures.table_explorer(start="C N=3")


def words(picture):
    root = ElementTree.fromstring(picture.svg)
    return {e.text for e in root.iter() if e.tag.endswith("}text")}


def test_residuals_name_rows_and_vocabularies():
    picture = figures.residual_picture({"fitted": fit_vocabulary()})
    assert {"base", "big", "fitted", "C d_model=1024"} <= words(picture)
    assert "big -3.99" in picture.alt
    with pytest.raises(ValueError, match="at least one vocabulary"):
        figures.residual_picture({})


PANELS = {
    "the paper": {"A h=1": [7.3], "C N=2": [21.7]},
    "ours": {"A h=1": [1.0, 1.1, 1.2], "C N=8": [-1.0, 1.0, 0.5]},
}


def test_differences_stand_in_the_order_of_the_table_with_their_intervals():
    picture = figures.difference_picture(PANELS)
    assert {"A h=1", "C N=2", "C N=8", "the paper", "ours"} <= words(picture)
    assert "A h=1 +7.3, C N=2 +21.7" in picture.alt
    assert "A h=1 +1.1 (+0.9 to +1.3)" in picture.alt


def test_an_interval_without_0_is_blue_and_one_with_it_grey():
    picture = figures.difference_picture(PANELS)
    assert figures.PALETTE["blue"] in picture.svg
    assert figures.PALETTE["grey"] in picture.svg
    only_clear = figures.difference_picture({"ours": {"A h=1": [1.0, 1.1, 1.2]}})
    assert figures.PALETTE["grey"] not in only_clear.svg


def test_a_picture_of_nothing_is_refused():
    with pytest.raises(ValueError, match="at least one row"):
        figures.difference_picture({"ours": {}})
