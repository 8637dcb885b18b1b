"""The figures of chapter 09."""

from walkthrough.ch09_encoder_and_decoder.figures.blocks import block_explorer
from walkthrough.ch09_encoder_and_decoder.figures.parameters import vocabulary_chart

__all__ = ["block_explorer", "vocabulary_chart"]
