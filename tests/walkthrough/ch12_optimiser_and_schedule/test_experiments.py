"""The recipes of chapter 12 differ where they say, and models share passes and nothing else."""

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


def losses(*seeds, recipe=experiments.BASELINE):
    return [run.losses for run in experiments.train(recipe, seeds=seeds, updates=2, n_layers=1)]


def test_recipes_reach_the_optimiser():
    """Only the second loss knows of a step; a large ε makes it as good as none."""
    plain, still = losses(0)[0], losses(0, recipe=experiments.Recipe(eps=1e9))[0]
    assert plain[0] == still[0]
    assert plain[1] != still[1]


def test_models_that_share_their_passes_are_what_each_is_alone():
    for together, alone in zip(losses(1, 2), [*losses(1), *losses(2)], strict=True):
        assert together == pytest.approx(alone, rel=1e-5)


def test_a_trained_model_has_the_weights_that_gave_its_losses():
    (run,) = experiments.train(experiments.BASELINE, seeds=[3], updates=1, n_layers=1)
    generator = torch.Generator().manual_seed(3)
    _, second = (copying.sentences(copying.BATCH, generator) for _ in range(2))
    assert copying.copy_loss(run.model, second).item() == pytest.approx(losses(3)[0][1], rel=1e-5)


def test_no_updates_and_no_seeds_are_refused(as_users_run_it):
    with pytest.raises(ValueError, match="at least 1, got 0 and 1"):
        experiments.train(experiments.BASELINE, seeds=[0], updates=0)
    with pytest.raises(ValueError, match="at least 1, got 600 and 0"):
        experiments.train(experiments.BASELINE, seeds=[])
