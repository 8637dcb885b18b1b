"""The checks of chapter 01's exercises."""

from walkthrough.ch01_why_attention.checks.directions import both_ways
from walkthrough.ch01_why_attention.checks.gates import gate_bias
from walkthrough.ch01_why_attention.checks.gradients import gradient_to_start
from walkthrough.ch01_why_attention.checks.lstm import lstm_states
from walkthrough.ch01_why_attention.checks.waiting import waiting_steps

__all__ = ["both_ways", "gate_bias", "gradient_to_start", "lstm_states", "waiting_steps"]
