"""What chapter 14 says of the translator of the preset holds for every recorded seed."""

from walkthrough.ch14_the_training_run.experiments import EXPERIMENT


def test_three_seeds_reach_the_figures():
    runs = EXPERIMENT.frame()
    assert len(runs) >= 3
    assert (runs["test_sentences/greedy/exact"] >= 0.99).all()
    assert (runs["test_combinations/greedy/exact"] >= 0.90).all()
    assert list(runs.length) == [EXPERIMENT.task.load(small=True).plan.training.max_updates] * 3
