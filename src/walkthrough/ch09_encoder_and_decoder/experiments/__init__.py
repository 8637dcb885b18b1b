"""The experiments of chapter 09."""

from walkthrough.ch09_encoder_and_decoder.experiments import blocks, hops

__all__ = ["blocks", "hops"]
