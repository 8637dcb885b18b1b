"""The drawings of chapter 01."""

from walkthrough.ch01_why_attention.figures.fading import fading
from walkthrough.ch01_why_attention.figures.gate import lstm_cell
from walkthrough.ch01_why_attention.figures.reading import how_to_read
from walkthrough.ch01_why_attention.figures.translators import encoder_decoder

__all__ = ["encoder_decoder", "fading", "how_to_read", "lstm_cell"]
