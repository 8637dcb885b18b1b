"""The figures of chapter 01."""

from walkthrough.ch01_why_attention.figures.cell import lstm_cell
from walkthrough.ch01_why_attention.figures.gradients import gradient_explorer
from walkthrough.ch01_why_attention.figures.translators import encoder_decoder, exact_chart

__all__ = ["encoder_decoder", "exact_chart", "gradient_explorer", "lstm_cell"]
