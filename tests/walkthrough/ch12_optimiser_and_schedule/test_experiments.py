"""The recipes of chapter 12 differ where they say, and Adam's memory is read correctly."""

import pytest
import torch

from walkthrough.ch12_optimiser_and_schedule import experiments
from walkthrough.lab import copying


def test_rates_share_their_peak_and_differ_before_it():
    paper = [experiments.paper_rate(update) for update in range(1, 201)]
    flat = [experiments.no_warmup_rate(update) for update in range(1, 201)]
    assert max(paper) == pytest.approx(copying.PEAK)
    assert paper.index(max(paper)) == experiments.WARMUP - 1
    assert flat[0] == max(flat) == pytest.approx(copying.PEAK)
    assert flat[experiments.WARMUP - 1 :] == paper[experiments.WARMUP - 1 :]


def test_a_schedule_stepped_per_batch_runs_four_times_as_fast():
    assert experiments.per_batch_rate(10) == experiments.paper_rate(40)


def test_recipes_reach_the_optimiser():
    recipe = experiments.Recipe(beta2=0.5, eps=1e-3)
    run = experiments.train(recipe, seed=0, updates=2, n_layers=1)
    group = run.optimizer.param_groups[0]
    assert (group["betas"], group["eps"]) == ((0.9, 0.5), 1e-3)
    assert group["lr"] == experiments.paper_rate(2)
    assert len(run.losses) == 2


def test_a_run_is_a_function_of_its_seed():
    first, again = (
        experiments.train(experiments.Recipe(), seed=1, updates=2, n_layers=1).losses for _ in "ab"
    )
    assert first == again


def test_after_one_update_the_estimate_is_the_gradient():
    run = experiments.train(experiments.Recipe(), seed=0, updates=1, n_layers=1)
    gradients = torch.cat([p.grad.flatten() for p in run.model.parameters()]).abs()
    assert torch.allclose(experiments.gradient_sizes(run.optimizer), gradients, rtol=1e-4)


def test_no_updates_and_no_steps_are_refused(as_users_run_it):
    with pytest.raises(ValueError, match="at least 1, got 0"):
        experiments.train(experiments.Recipe(), seed=0, updates=0)
    fresh = torch.optim.Adam([torch.nn.Parameter(torch.ones(1))])
    with pytest.raises(ValueError, match="before its first step"):
        experiments.gradient_sizes(fresh)
