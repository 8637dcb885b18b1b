"""The checks of chapter 14's exercises."""

from walkthrough.ch14_the_training_run.checks.alignment import predicted_sources
from walkthrough.ch14_the_training_run.checks.broken import diagnose
from walkthrough.ch14_the_training_run.checks.update import update

__all__ = ["diagnose", "predicted_sources", "update"]
