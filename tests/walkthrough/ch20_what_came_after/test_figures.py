"""The figures of chapter 20 draw what the record holds, and say it in words."""

import pandas as pd
import pytest
import torch

from walkthrough.ch20_what_came_after import figures
from walkthrough.lab import compare, frame
from walkthrough.lab.discovery import find

NAMES = ["pre-norm", "RoPE"]


def test_differences_are_taken_within_a_rate_and_a_seed():
    losses = {"2017": (2.0, 1.0), "pre-norm": (2.5, 0.5), "RoPE": (1.0, 1.2)}
    runs = pd.DataFrame(
        [
            {"arm": name, "rate": rate, "seed": seed, "test/-/loss": loss + seed}
            for name, both in losses.items()
            for rate, loss in zip((0.3, 1), both, strict=True)
            for seed in (3, 1, 2)
        ]
    )
    picture = figures.changes_picture(runs, NAMES)
    assert "pre-norm +0.50 and -0.50" in picture.alt
    assert "RoPE -1.00 and +0.20" in picture.alt
    for text in (*NAMES, "peak rate 3e-3", "peak rate 1e-2"):
        assert text in picture.svg


def test_rates_have_a_line_for_each_block_and_a_panel_for_each_depth():
    runs = find("20-rates").frame()
    picture = figures.rates_picture(runs)
    mean = runs.query("block == '2017' and layers == 2 and rate == 0.3")["test/-/loss"].mean()
    assert f"2 layers, 2017: {mean:.2f} at 0.003" in picture.alt
    assert "12 layers" in picture.svg


def test_learning_curves_of_images_and_judgements_say_their_means():
    judged = figures.bert_picture(frame("20-bert")).alt
    assert "pre-trained: 0.59 at 100, 0.81 at 400, 0.95 at 1600" in judged
    assert "ViT, patches 2 × 2: " in figures.images_picture(find("20-images").frame()).alt


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


def test_patches_are_drawn_beside_their_image():
    weights = torch.rand(2, 2, 4, 16)
    chart = figures.patch_explorer(torch.rand(2, 8, 8), weights, ["a 0", "a 1"])
    spec = chart.to_dict()
    assert {one["name"] for one in spec["params"]} == {"digit", "layer_shown", "head_shown"}
    pixels, maps = (part["data"]["values"] for part in spec["hconcat"])
    assert (len(pixels), len(maps)) == (2, 2 * 2 * 4)
    shown = next(m for m in maps if (m["image"], m["layer"], m["head"]) == ("a 1", 2, 3))
    assert shown["weights"] == pytest.approx(weights[1, 1, 2].tolist(), abs=1e-3)
    with pytest.raises(ValueError, match="1 names"):
        figures.patch_explorer(torch.rand(2, 8, 8), weights, ["a 0"])


def test_a_table_of_verdicts_is_the_laboratorys():
    pairs = [("2017", "2017"), ("today", "2017")]
    base, today = figures.verdicts(pairs).to_dict("records")
    assert (base["difference"], base["verdict"]) == (0, "")
    how = {"figure": "test/loss", "length": 250, "rate": 1, "only": figures.is_short}
    found = compare("20-block", "today", **how)
    assert found.seeds == (1, 2, 3, 4, 5, 6)
    assert {point.x for point in found.by_length} == {250}
    assert today["difference"] == pytest.approx(found.mean)
    assert (today["lower in"], today["verdict"]) == ("6 of 6", found.verdict)
    ends = frame("20-block").query("arm == 'today' and length == 250 and rate == 1 and seed <= 6")
    assert today["highest"] == ends["test/-/loss"].max()
