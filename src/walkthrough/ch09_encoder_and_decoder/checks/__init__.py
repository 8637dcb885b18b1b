"""The checks of chapter 09's exercises."""

from walkthrough.ch09_encoder_and_decoder.checks.broken import faults
from walkthrough.ch09_encoder_and_decoder.checks.every_shape import shapes
from walkthrough.ch09_encoder_and_decoder.checks.layer import decoder_layer

__all__ = ["decoder_layer", "faults", "shapes"]
