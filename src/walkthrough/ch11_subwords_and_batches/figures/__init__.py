"""The figures of chapter 11."""

from walkthrough.ch11_subwords_and_batches.figures.batch_layout import batch_grid, prediction_steps
from walkthrough.ch11_subwords_and_batches.figures.padding import padding_map
from walkthrough.ch11_subwords_and_batches.figures.subwords import merge_slider

__all__ = ["batch_grid", "merge_slider", "padding_map", "prediction_steps"]
