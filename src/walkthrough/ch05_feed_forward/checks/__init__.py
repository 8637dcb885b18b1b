"""The checks of chapter 05's exercises."""

from walkthrough.ch05_feed_forward.checks.feed_forward import feed_forward_share, larger
from walkthrough.ch05_feed_forward.checks.position_wise import is_position_wise

__all__ = ["feed_forward_share", "is_position_wise", "larger"]
