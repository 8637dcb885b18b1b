"""The experiments of chapter 01."""

from walkthrough.ch01_why_attention.experiments import distant_task, translators
from walkthrough.ch01_why_attention.experiments.recurrence import (
    gradient_at_start,
    longest_chain,
    recurrent_states,
    stretched_rotation,
)

__all__ = [
    "distant_task",
    "gradient_at_start",
    "longest_chain",
    "recurrent_states",
    "stretched_rotation",
    "translators",
]
