"""The checks of chapter 10's exercises."""

from walkthrough.ch10_why_self_attention.checks.cost import crossing, layer_products
from walkthrough.ch10_why_self_attention.checks.reach import layers_needed, neighbourhood

__all__ = ["crossing", "layer_products", "layers_needed", "neighbourhood"]
