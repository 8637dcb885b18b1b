"""The experiments of chapter 10."""

from walkthrough.ch10_why_self_attention.experiments import wiring
from walkthrough.ch10_why_self_attention.experiments.layer_types import (
    counted,
    make_layer,
    milliseconds,
)

__all__ = ["counted", "make_layer", "milliseconds", "wiring"]
