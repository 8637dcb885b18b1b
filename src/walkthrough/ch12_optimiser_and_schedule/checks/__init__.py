"""The checks of chapter 12's exercises."""

from walkthrough.ch12_optimiser_and_schedule.checks.adamw import adamw_step
from walkthrough.ch12_optimiser_and_schedule.checks.cost import training_days
from walkthrough.ch12_optimiser_and_schedule.checks.schedule import rate_of_batch

__all__ = ["adamw_step", "rate_of_batch", "training_days"]
