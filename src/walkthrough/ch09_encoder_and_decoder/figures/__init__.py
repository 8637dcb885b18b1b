"""The figures of chapter 09."""

from walkthrough.ch09_encoder_and_decoder.figures.blocks import block_explorer
from walkthrough.ch09_encoder_and_decoder.figures.cut import CUTS, cut_memory
from walkthrough.ch09_encoder_and_decoder.figures.stacks import stacks

__all__ = ["CUTS", "block_explorer", "cut_memory", "stacks"]
