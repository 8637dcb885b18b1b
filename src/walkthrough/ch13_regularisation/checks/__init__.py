"""The checks of chapter 13's exercises."""

from walkthrough.ch13_regularisation.checks.regularisation import connect, drop
from walkthrough.ch13_regularisation.checks.smoothing import perfect_perplexity, smoothed_loss

__all__ = ["connect", "drop", "perfect_perplexity", "smoothed_loss"]
