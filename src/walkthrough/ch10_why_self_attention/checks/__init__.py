"""The checks of chapter 10's exercises."""

from walkthrough.ch10_why_self_attention.checks.cost import decoder_products
from walkthrough.ch10_why_self_attention.checks.reach import layers_needed
from walkthrough.ch10_why_self_attention.checks.sparse import sparse_mask

__all__ = ["decoder_products", "layers_needed", "sparse_mask"]
