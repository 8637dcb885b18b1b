"""The checks of chapter 04's exercises."""

from walkthrough.ch04_multi_head_attention.checks.bugs import find_bug
from walkthrough.ch04_multi_head_attention.checks.groups import grouped_attention
from walkthrough.ch04_multi_head_attention.checks.heads import merge_heads, split_heads
from walkthrough.ch04_multi_head_attention.checks.multi_head import multi_head

__all__ = [
    "find_bug",
    "grouped_attention",
    "merge_heads",
    "multi_head",
    "split_heads",
]
