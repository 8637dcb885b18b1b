"""The drawings of chapter 01."""

from walkthrough.ch01_why_attention.figures.fading import fading
from walkthrough.ch01_why_attention.figures.translators import encoder_decoder

__all__ = ["encoder_decoder", "fading"]
