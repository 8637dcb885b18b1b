"""The checks of chapter 09's exercises."""

from walkthrough.ch09_encoder_and_decoder.checks.stacks import run_stacks
from walkthrough.ch09_encoder_and_decoder.checks.whole_model import n_parameters, shapes, vocabulary

__all__ = ["n_parameters", "run_stacks", "shapes", "vocabulary"]
