"""The checks of chapter 15's exercises."""

from walkthrough.ch15_decoding.checks.beam import beam_step
from walkthrough.ch15_decoding.checks.errors import kind_of_error
from walkthrough.ch15_decoding.checks.loop import greedy_batch

__all__ = ["beam_step", "greedy_batch", "kind_of_error"]
