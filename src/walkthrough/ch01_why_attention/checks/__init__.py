"""The checks of chapter 01's exercises."""

from walkthrough.ch01_why_attention.checks.contexts import contexts
from walkthrough.ch01_why_attention.checks.recurrence import (
    gradient_to_start,
    rnn_states,
    waiting_steps,
)

__all__ = ["contexts", "gradient_to_start", "rnn_states", "waiting_steps"]
