"""The loop of the page and the package's trainer make the same updates."""

import pytest
import torch

from transformer.training import train
from walkthrough.ch14_the_training_run import loop
from walkthrough.lab import translator


@pytest.fixture(scope="module")
def task():
    return translator.load_task(train=300, valid=20, test=10)


def test_the_loop_is_the_trainer_without_its_office(task):
    """Two epochs and more, with dropout, so that data, order and random numbers must agree."""
    settings = task.plan.training.replace(
        seed=3, threads=1, max_updates=5, max_tokens=400, accumulate=3, warmup=2, log_every=1
    )
    pairs = task.pairs("train")
    mine, theirs = (translator.new_model(task, seed=3, d_model=32, d_ff=32) for _ in range(2))
    losses = list(loop.training(mine, pairs, settings))
    history = train(theirs, pairs, settings, progress=False)
    assert history.records[-1].epoch > 0
    assert [update for update, _ in losses] == [1, 2, 3, 4, 5]
    assert [loss for _, loss in losses] == pytest.approx([r.loss for r in history.records])
    torch.testing.assert_close(mine.output_weight, theirs.output_weight, atol=1e-5, rtol=1e-4)
    assert not mine.training


def test_an_update_of_more_batches_than_there_are_is_refused(task):
    settings = task.plan.training.replace(accumulate=500, max_updates=1, warmup=1)
    with pytest.raises(ValueError, match="an update takes 500 batches, an epoch has"):
        next(loop.updates(task.pairs("train"), settings))
