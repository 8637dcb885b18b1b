"""The figures of chapter 20 draw what the record holds, and say it in words."""

import re

import pandas as pd
import torch

from walkthrough.ch20_what_came_after import figures
from walkthrough.drawing.style import CATEGORIES


def test_the_masks_are_those_of_the_stacks_and_of_2017():
    told = figures.one_stack().description
    for said in ("2017: 31 of 49", "BERT: 49 of 49", "GPT: 28 of 49", "prefix model: 34 of 49"):
        assert said in told


def test_each_rule_has_a_colour_of_its_own():
    markup = figures.one_stack().markup
    cells = re.findall(r'<i class="glides" style="([^"]+)"', markup)
    both_ways, backwards, across = CATEGORIES[:3]
    encoder, between, decoder, last = (cells[7 * row + column] for row, column in (
        (0, 2), (4, 0), (4, 3), (6, 0),
    ))  # fmt: skip
    assert all(f"--b0:{ink}" in cell for cell, ink in (
        (encoder, both_ways), (between, across), (decoder, backwards),
    ))  # fmt: skip
    assert f"--b1:{both_ways};--b2:{backwards};--b3:{backwards}" in last
    assert markup.count(f"solid {across}") == 1  # the sentence on 2017 names it


def test_lines_say_their_means_and_the_level_beside_them():
    runs = pd.DataFrame(
        [
            {"arm": arm, "seed": seed, "rate": rate, "test/-/loss": rate * seed + (arm == "today")}
            for arm in ("2017", "today", "RoPE") for rate in (0.3, 1) for seed in (1, 3)
        ]
    )  # fmt: skip
    picture = figures.blocks_picture(runs, ["today", "2017"])
    assert "today: 1.6 at 0.003, 3 at 0.01; 2017: 0.6 at 0.003, 2 at 0.01." in picture.alt
    judged = pd.DataFrame(
        [{"arm": "taught", "test/100 labels/accuracy": 0.5, "test/asked/accuracy": 0.75}]
    )
    assert "taught: 0.5 at 100; asked, with no label: 0.75." in figures.bert_picture(judged).alt
    named = pd.DataFrame([{"kind": "ViT", "n_images": 100, "test/-/accuracy": 0.5}])
    assert "linear: 0.6 at 100" in figures.images_picture(named, {100: 0.6}).alt


def test_cost_has_a_point_for_each_model_and_moment_with_its_range():
    runs = pd.DataFrame(
        [
            {"arm": kind, "extra": {"megaflops": 500.0},
             "curve": [[50, "", 3.0 + seed], [100, "", 1.0 + seed]]}
            for kind in ("encoder and decoder", "decoder only") for seed in (1, 2, 3)
        ]
    )  # fmt: skip
    chart = figures.cost_explorer(runs).to_dict()
    rows = chart["data"]["values"]
    assert len(rows) == 4
    assert rows[1] == {
        "kind": "encoder and decoder", "update": 100, "operations": 50.0, "loss": 3.0, "low": 2.0,
        "high": 4.0,
    }  # fmt: skip
    (axis,) = chart["params"]
    assert axis["bind"]["options"] == [figures.UPDATES, figures.FLOPS]


def test_patches_are_numbered_and_diagonals_told():
    assert "16 squares" in figures.patches_picture(torch.rand(8, 8), 2).alt
    scores = torch.tensor([[0.5, -1.0], [2.0, 0.5]])
    assert "0 to the right 0.5; 1 to the right -1.0" in figures.rope_picture(scores, ["a", "b"]).alt
