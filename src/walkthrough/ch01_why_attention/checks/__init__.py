"""The checks of chapter 01's exercises."""

from walkthrough.ch01_why_attention.checks.directions import both_ways
from walkthrough.ch01_why_attention.checks.gradients import gradient_to_start
from walkthrough.ch01_why_attention.checks.waiting import waiting_steps

__all__ = ["both_ways", "gradient_to_start", "waiting_steps"]
