"""The checks of chapter 07's exercises."""

from walkthrough.ch07_positional_encoding.checks.encodings import encoding
from walkthrough.ch07_positional_encoding.checks.offsets import rotation
from walkthrough.ch07_positional_encoding.checks.rotary import rotary_scores

__all__ = ["encoding", "rotary_scores", "rotation"]
