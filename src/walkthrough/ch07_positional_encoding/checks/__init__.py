"""The checks of chapter 07's exercises."""

from walkthrough.ch07_positional_encoding.checks.encodings import encoding, mirror_accuracy
from walkthrough.ch07_positional_encoding.checks.offsets import rotation
from walkthrough.ch07_positional_encoding.checks.rotary import rotary_scores

__all__ = ["encoding", "mirror_accuracy", "rotary_scores", "rotation"]
