"""The figures of chapter 15."""

from walkthrough.ch15_decoding.figures.decoding import (
    averaging_gain,
    length_penalty_chooser,
    temperature_chooser,
)
from walkthrough.ch15_decoding.figures.searches import search_tree

__all__ = ["averaging_gain", "length_penalty_chooser", "search_tree", "temperature_chooser"]
