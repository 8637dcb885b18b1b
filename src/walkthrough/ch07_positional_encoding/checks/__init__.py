"""The checks of chapter 07's exercises."""

from walkthrough.ch07_positional_encoding.checks.encodings import (
    encoding,
    mirror_accuracy,
    slow_pairs,
)
from walkthrough.ch07_positional_encoding.checks.offsets import add_positions, rotation

__all__ = ["add_positions", "encoding", "mirror_accuracy", "rotation", "slow_pairs"]
