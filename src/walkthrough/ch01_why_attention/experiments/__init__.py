"""The experiments of chapter 01."""

from walkthrough.ch01_why_attention.experiments import distant_task, translators
from walkthrough.ch01_why_attention.experiments.recurrence import (
    gradient_by_place,
    longest_chain,
    open_forget_gate,
    recurrent_states,
)

__all__ = [
    "distant_task",
    "gradient_by_place",
    "longest_chain",
    "open_forget_gate",
    "recurrent_states",
    "translators",
]
