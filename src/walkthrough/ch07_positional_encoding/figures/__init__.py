"""The figures of chapter 07."""

from walkthrough.ch07_positional_encoding.figures.encodings import (
    distance_chart,
    encoding_heatmap,
    encoding_picture,
    rotation_chart,
)
from walkthrough.ch07_positional_encoding.figures.order import accuracy_by_position
from walkthrough.ch07_positional_encoding.figures.waves import (
    binary_counter,
    encoding_waves,
    wavelengths_chart,
)

__all__ = [
    "accuracy_by_position",
    "binary_counter",
    "distance_chart",
    "encoding_heatmap",
    "encoding_picture",
    "encoding_waves",
    "rotation_chart",
    "wavelengths_chart",
]
