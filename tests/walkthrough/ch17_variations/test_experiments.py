"""Runs of one seed are pairs: the same batches, and the same start wherever shapes agree."""

import math

import pytest
import torch

from transformer.cli.plan import make_plan
from walkthrough.ch17_variations import experiments
from walkthrough.ch17_variations.experiments import CAPTIONS, TABLE_3
from walkthrough.ch17_variations.rows import ROWS, TRAINED, in_small
from walkthrough.lab import Job, Key


@pytest.fixture(scope="module")
def task():
    return TABLE_3.task.load(small=True)


@pytest.fixture(scope="module")
def base(task):
    return dict(experiments.new_model(task, ROWS["base"], seed=3).named_parameters())


@pytest.mark.parametrize("name", ["A h=1", "D dropout=0.0", "D smoothing=0.2"])
def test_a_row_of_the_same_shapes_starts_where_base_starts(task, base, name):
    model = experiments.new_model(task, ROWS[name], seed=3)
    assert all(torch.equal(value, base[key]) for key, value in model.named_parameters())
    assert not torch.equal(
        experiments.new_model(task, ROWS[name], seed=4).output_weight, base["output_weight"]
    )


def test_smaller_keys_leave_all_else_alike(task, base):
    model = experiments.new_model(task, ROWS["B d_k=16"], seed=3)
    differ = {key for key, v in model.named_parameters() if v.shape != base[key].shape}
    assert all(".query_proj." in key or ".key_proj." in key for key in differ)
    alike = set(base) - differ
    assert all(torch.equal(v, base[k]) for k, v in model.named_parameters() if k in alike)


def test_another_depth_keeps_the_scale_of_its_own_branches(task, base):
    model = dict(experiments.new_model(task, ROWS["C N=2"], seed=3).named_parameters())
    key = "encoder.layers.0.feed_forward.contract.weight"
    torch.testing.assert_close(model[key], base[key] * math.sqrt(3))
    assert torch.equal(model["output_weight"], base["output_weight"])


def test_learned_positions_reach_past_the_longest_output(task):
    model = experiments.new_model(task, ROWS["E learned positions"], seed=3)
    longest = max(len(source) for source, _ in task.pairs("valid"))
    assert model.config.max_len >= longest + 1 + 50


def test_the_rate_falls_with_the_width():
    wide, narrow = (TABLE_3.arm(name).train["peak"] for name in ("base", "C d_model=256"))
    assert narrow / wide == pytest.approx(math.sqrt(2))


@pytest.mark.parametrize("arm", CAPTIONS.arms, ids=lambda arm: arm.name)
def test_the_command_line_makes_the_model_of_the_row(arm):
    row = TRAINED[arm.name]
    words = CAPTIONS.task.command(Job(CAPTIONS, arm, Key(arm.name, 1.0, 1500, 1), False))
    plan = make_plan("multi30k-tiny", None, [word for word in words if "=" in word])
    assert plan.config(row.config.vocab_size) == in_small(row, width=4, depth=2, max_len=256)
    assert (plan.training.smoothing, plan.training.warmup) == (row.smoothing, 200)
    assert plan.training.peak == pytest.approx(arm.train["peak"], rel=1e-5)
