"""The checks of chapter 09's exercises."""

from walkthrough.ch09_encoder_and_decoder.checks.broken import faults
from walkthrough.ch09_encoder_and_decoder.checks.layer import decoder_layer
from walkthrough.ch09_encoder_and_decoder.checks.whole_model import n_parameters, shapes

__all__ = ["decoder_layer", "faults", "n_parameters", "shapes"]
