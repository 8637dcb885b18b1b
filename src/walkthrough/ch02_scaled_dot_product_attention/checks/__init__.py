"""The checks of chapter 02's exercises."""

from walkthrough.ch02_scaled_dot_product_attention.checks.masking import masked_attention
from walkthrough.ch02_scaled_dot_product_attention.checks.softmax import stable_softmax
from walkthrough.ch02_scaled_dot_product_attention.checks.stream import streamed_attention

__all__ = [
    "masked_attention",
    "stable_softmax",
    "streamed_attention",
]
