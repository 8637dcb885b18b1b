"""The figures of chapter 10."""

from walkthrough.ch10_why_self_attention.figures.crossing import crossing_chart
from walkthrough.ch10_why_self_attention.figures.wiring import wiring_explorer

__all__ = ["crossing_chart", "wiring_explorer"]
