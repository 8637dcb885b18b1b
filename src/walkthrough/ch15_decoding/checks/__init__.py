"""The checks of chapter 15's exercises."""

from walkthrough.ch15_decoding.checks.averaging import average
from walkthrough.ch15_decoding.checks.decoding import beam_step, kind_of_error, score

__all__ = ["average", "beam_step", "kind_of_error", "score"]
