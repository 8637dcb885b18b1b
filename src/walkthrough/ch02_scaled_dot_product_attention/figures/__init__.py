"""The figures of chapter 02."""

from walkthrough.ch02_scaled_dot_product_attention.figures.arcs import arcs
from walkthrough.ch02_scaled_dot_product_attention.figures.explorer import qk_explorer
from walkthrough.ch02_scaled_dot_product_attention.figures.flow import data_flow
from walkthrough.ch02_scaled_dot_product_attention.figures.geometry import plane_explorer
from walkthrough.ch02_scaled_dot_product_attention.figures.scaling import (
    softmax_explorer,
    vanishing_chart,
)
from walkthrough.ch02_scaled_dot_product_attention.figures.scoring import recall_chart

__all__ = [
    "arcs",
    "data_flow",
    "plane_explorer",
    "qk_explorer",
    "recall_chart",
    "softmax_explorer",
    "vanishing_chart",
]
