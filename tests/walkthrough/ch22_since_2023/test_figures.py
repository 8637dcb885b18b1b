"""The figures of chapter 22 hold the numbers they show."""

import pandas as pd
import pytest
import torch
from chart_specs import all_rows, inputs, spec

from walkthrough.ch22_since_2023 import figures
from walkthrough.ch22_since_2023.cache import Published


def test_five_ways_count_what_they_keep():
    words = ["Jane", "<i>", "Africa", "in", "May"]
    scene = figures.what_is_kept(words, torch.ones(5, 4, 4), torch.ones(5, 4, 4))
    numbers = (160, 80, 40, 96, 64)
    assert all(f" {n} numbers in all" in scene.description for n in numbers)
    assert "&lt;i&gt;" in scene.markup


def test_the_cache_is_computed_from_the_slider():
    chart = figures.cache_explorer([Published("one", 1, 500, "", window=2**10)])
    assert inputs(chart)["power"]["max"] == 17
    rows = [row for row in all_rows(chart) if "mb" in row]
    assert rows[0] == {"model": "one", "mb": 0.001, "window": 1024}
    assert "32 768 tokens: one 0.00102 GB" in spec(chart)["description"]


def test_recall_has_a_point_a_run():
    runs = pd.DataFrame(
        [("sum", 128, 8, 0.5), ("sum", 128, 32, 0.25), ("sum", 128, 32, 0.75)],
        columns=["way", "numbers", "facts", "recall"],
    )
    chart = figures.recall_chart(runs)
    assert inputs(chart)["facts_read"]["options"] == [8, 32]
    assert "sum 128: 50%" in spec(chart)["description"]
    assert len(all_rows(chart)) == pytest.approx(3)


def test_laws_stand_beside_each_other():
    chart = figures.laws_chart(["a", "b"], {"one": torch.tensor([0.25, 0.75])})
    assert [row["p"] for row in all_rows(chart)] == [0.25, 0.75]
    assert "one: a 0.25, b 0.75" in spec(chart)["description"]
