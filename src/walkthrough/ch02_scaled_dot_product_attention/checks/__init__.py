"""The checks of chapter 02's exercises."""

from walkthrough.ch02_scaled_dot_product_attention.checks.faults import find_fault
from walkthrough.ch02_scaled_dot_product_attention.checks.masking import masked_attention
from walkthrough.ch02_scaled_dot_product_attention.checks.scale import score_scale
from walkthrough.ch02_scaled_dot_product_attention.checks.softmax import stable_softmax
from walkthrough.ch02_scaled_dot_product_attention.checks.stream import streamed_attention

__all__ = [
    "find_fault",
    "masked_attention",
    "score_scale",
    "stable_softmax",
    "streamed_attention",
]
