"""The checks of chapter 13's exercises."""

from walkthrough.ch13_regularisation.checks.regularisation import drop, where
from walkthrough.ch13_regularisation.checks.smoothing import perfect_perplexity, smoothed_loss

__all__ = ["drop", "perfect_perplexity", "smoothed_loss", "where"]
