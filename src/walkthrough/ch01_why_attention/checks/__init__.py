"""The checks of chapter 01's exercises."""

from walkthrough.ch01_why_attention.checks.gates import gate_bias, lstm_states
from walkthrough.ch01_why_attention.checks.recurrence import (
    both_ways,
    gradient_to_start,
    waiting_steps,
)

__all__ = ["both_ways", "gate_bias", "gradient_to_start", "lstm_states", "waiting_steps"]
