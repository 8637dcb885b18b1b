"""The figures of chapter 20 draw what the record holds, and say it in words."""

import pytest
import torch

from walkthrough.ch20_what_came_after import figures
from walkthrough.ch20_what_came_after.verdicts import (
    STEPS,
    block_verdicts,
    optimiser_verdicts,
    paired,
    step_verdicts,
)
from walkthrough.page.results import recorded

NAMES = ["pre-norm", "RoPE"]


def block(name, peak, seed, loss):
    return {"part": "block", "block": name, "peak": peak, "seed": seed, "loss": loss, "exact": 0.5}


def record():
    losses = {"2017": (2.0, 1.0), "pre-norm": (2.5, 0.5), "RoPE": (1.0, 1.2)}
    runs = [
        block(name, peak, seed, loss + 0.01 * seed * (1 + (name == "RoPE")))
        for name, both in losses.items()
        for peak, loss in zip((0.003, 0.01), both, strict=True)
        for seed in (1, 2, 3)
    ]
    runs += [
        {"part": "optimiser", "optimizer": "Muon", "schedule": "linear", "peak": 0.01,
         "seed": seed, "loss": 0.4 + 0.02 * seed}
        for seed in (1, 2, 3)
    ]  # fmt: skip
    runs += [
        {"part": "rate", "block": name, "peak": peak, "n_layers": n, "seed": seed, "loss": n + peak}
        for name in ("2017", "pre-norm") for peak in (0.01, 0.03) for n in (2, 12)
        for seed in (1, 2, 3)
    ]  # fmt: skip
    runs += [
        {"part": "encoder", "kind": kind, "seed": seed, "megaflops": 500.0,
         "curve": [[50, 3.0 + seed], [100, 1.0 + seed]]}
        for kind in ("encoder and decoder", "decoder only") for seed in (1, 2, 3)
    ]  # fmt: skip
    runs += [
        {"part": "bert", "seed": seed, "pre-trained": [[100, 0.7], [400, 0.9]],
         "from nothing": [[100, 0.5], [400, 0.6]]}
        for seed in (1, 2)
    ]  # fmt: skip
    runs += [
        {"part": "images", "kind": kind, "n_images": n, "order": "as is", "seed": seed,
         "right": 0.8 + n / 10000}
        for kind in ("linear", "convolution", "ViT 2") for n in (100, 1200) for seed in (1, 2)
    ]  # fmt: skip
    return {"runs": runs}


def test_differences_are_taken_within_a_rate_and_a_seed():
    picture = figures.changes_picture(record(), NAMES)
    assert "pre-norm +0.50 and -0.50" in picture.alt
    assert "RoPE -0.98 and +0.22" in picture.alt
    for name in NAMES:
        assert name in picture.svg


def test_rates_have_a_line_for_each_block_and_a_panel_for_each_depth():
    picture = figures.rates_picture(record())
    assert "2 layers, 2017: 2.01 at 0.01, 2.03 at 0.03" in picture.alt
    assert "12 layers, pre-norm: 12.01 at 0.01, 12.03 at 0.03" in picture.alt
    assert "12 layers" in picture.svg


def test_learning_curves_of_images_and_judgements_say_their_means():
    assert "pre-trained: 0.70 at 100, 0.90 at 400" in figures.bert_picture(record()).alt
    assert "ViT, patches 2 × 2: 0.81 at 100, 0.92 at 1200" in figures.images_picture(record()).alt


def test_cost_has_a_point_for_each_model_and_moment_with_its_range():
    chart = figures.cost_explorer(record()).to_dict()
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


def test_a_part_that_is_not_recorded_is_named():
    with pytest.raises(ValueError, match="'sound'"):
        figures.frame(record(), "sound")


def test_an_interval_is_students_and_the_verdict_needs_it_on_one_side_of_zero():
    found = paired([1.0, 1.1, 1.2], [2.0, 2.0, 2.0])
    assert found.interval.mean == pytest.approx(-0.9)
    assert found.interval.high + 0.9 == pytest.approx(4.303 * 0.1 / 3**0.5, abs=1e-4)
    assert found.verdict == "helps"
    assert paired([3.0, 3.1, 3.2], [2.0, 2.0, 2.0]).verdict == "worse"
    assert paired([1.5, 2.1, 2.2], [2.0, 2.0, 2.0]).verdict == "no difference seen"
    wide = paired([1.9, 1.9, 0.1], [2.0, 2.0, 2.0])
    assert (wide.verdict, wide.lower) == ("better in every pair", "3 of 3")
    assert paired([2.1, 2.1, 3.9], [2.0, 2.0, 2.0]).verdict == "worse in every pair"
    with pytest.raises(ValueError, match="as many runs of each, got 1 and 2"):
        paired([1.0], [2.0, 3.0])


def test_each_block_is_compared_at_its_own_best_rate():
    found = block_verdicts(record())
    assert found.rate.to_dict() == {"2017": 0.01, "pre-norm": 0.01, "RoPE": 0.003}
    assert found.verdict.to_dict() == {
        "2017": "",
        "pre-norm": "helps",
        "RoPE": "worse in every pair",
    }
    assert found.difference["RoPE"] == pytest.approx(1.04 - 1.02)
    assert optimiser_verdicts(record()).verdict["Muon, linear"] == "helps"


def test_a_block_is_compared_with_the_one_it_adds_to():
    whole = recorded("phrasebook-modern")
    found = step_verdicts(whole)
    assert list(found.index) == list(STEPS)
    runs = figures.frame(whole, "block").query("peak == 0.01")
    losses = runs.pivot(index="seed", columns="block", values="loss")
    for less, more in STEPS:  # all of them are best at the higher rate
        difference = (losses[more] - losses[less]).mean()
        assert found.difference[less, more] == pytest.approx(difference)
    assert found.difference["no biases", "no biases, QK-norm"] < -0.05


def test_the_record_holds_every_part_with_the_same_three_seeds_or_more():
    whole = recorded("phrasebook-modern")
    for part in ("block", "encoder", "bert", "images", "optimiser", "rate", "patience"):
        runs = figures.frame(whole, part)
        names = [n for n in ("block", "kind", "peak", "n_layers", "optimizer", "schedule",
                             "n_images", "order") if n in runs]  # fmt: skip
        groups = runs.groupby(names) if names else [("all", runs)]
        assert all({1, 2, 3} <= set(group.seed) for _, group in groups), part
