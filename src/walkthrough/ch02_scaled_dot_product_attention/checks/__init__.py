"""The checks of chapter 02's exercises."""

from walkthrough.ch02_scaled_dot_product_attention.checks.masking import masked_attention
from walkthrough.ch02_scaled_dot_product_attention.checks.softmax import score_scale, stable_softmax
from walkthrough.ch02_scaled_dot_product_attention.checks.weights import (
    additive_scores,
    attention_weights,
)

__all__ = [
    "additive_scores",
    "attention_weights",
    "masked_attention",
    "score_scale",
    "stable_softmax",
]
