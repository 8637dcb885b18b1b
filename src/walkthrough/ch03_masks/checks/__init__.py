"""The checks of chapter 03's exercises."""

from walkthrough.ch03_masks.checks.leaks import has_leak
from walkthrough.ch03_masks.checks.masks import decoding_mask, pad_mask
from walkthrough.ch03_masks.checks.shifting import shift_right

__all__ = ["decoding_mask", "has_leak", "pad_mask", "shift_right"]
