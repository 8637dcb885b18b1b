"""The checks of chapter 04's exercises."""

from walkthrough.ch04_multi_head_attention.checks.heads import merge_heads, split_heads
from walkthrough.ch04_multi_head_attention.checks.multi_head import multi_head, n_parameters

__all__ = ["merge_heads", "multi_head", "n_parameters", "split_heads"]
