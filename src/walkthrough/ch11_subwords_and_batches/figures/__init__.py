"""The figures of chapter 11."""

from walkthrough.ch11_subwords_and_batches.figures.batch_layout import batch_grid
from walkthrough.ch11_subwords_and_batches.figures.subwords import live_merges

__all__ = ["batch_grid", "live_merges"]
