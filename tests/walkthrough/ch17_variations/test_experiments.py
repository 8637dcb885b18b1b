"""Runs of one seed are pairs: the same batches, and the same start wherever shapes agree."""

import math

import pytest
import torch

from walkthrough.ch17_variations import experiments
from walkthrough.ch17_variations.rows import ROWS


@pytest.fixture(scope="module")
def task():
    return experiments.load_task(train=300, valid=20, test=20)


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


def test_pairs_see_the_same_batches_and_the_rate_falls_with_the_width(task):
    runs = [experiments.trainer(task, ROWS[n], seed=3) for n in ("base", "C d_model=256")]
    assert runs[0].groups(0) == runs[1].groups(0)
    ratio = runs[1].settings.peak / runs[0].settings.peak
    assert ratio == pytest.approx(math.sqrt(2))


def test_the_first_updates_are_those_of_the_whole_run(task, monkeypatch):
    points = []
    short = {"updates": 101, "every": 1}
    whole = experiments.trainer(task, ROWS["base"], seed=1, updates=101)
    monkeypatch.setattr(experiments, "perplexity", lambda model, pairs: snapshot(model))

    def stop(update, weight):
        points.append(weight)
        if update == 2:
            raise StopIteration

    with pytest.raises(StopIteration):
        experiments.train_row(task, ROWS["base"], seed=1, measured=stop, **short)
    model = experiments.first_updates(whole, 2)
    assert points[1] == snapshot(model) != points[0]


def snapshot(model):
    return float(model.output_weight.detach().sum())


def test_a_model_is_measured_on_both_sides(task):
    model = experiments.new_model(task, ROWS["base"], seed=1).eval()
    with torch.no_grad():
        model.output_weight.zero_()  # every token alike
    scores = experiments.evaluate(model, task, "test_sentences")
    assert scores.perplexity == pytest.approx(len(task.codec), rel=1e-3)
    assert scores.exact == 0
