"""The checks of chapter 03's exercises."""

from walkthrough.ch03_masks.checks.leaks import has_leak
from walkthrough.ch03_masks.checks.packing import packed_mask
from walkthrough.ch03_masks.checks.shifting import shift_right
from walkthrough.ch03_masks.checks.stored_keys import decoding_mask

__all__ = ["decoding_mask", "has_leak", "packed_mask", "shift_right"]
