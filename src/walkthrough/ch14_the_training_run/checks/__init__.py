"""The checks of chapter 14's exercises."""

from walkthrough.ch14_the_training_run.checks.alignment import predicted_sources
from walkthrough.ch14_the_training_run.checks.training import mean_loss, shift, update_gradient
from walkthrough.checking.rates import learning_rate

__all__ = ["learning_rate", "mean_loss", "predicted_sources", "shift", "update_gradient"]
