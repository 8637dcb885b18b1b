"""The checks of chapter 13's exercises."""

from walkthrough.ch13_regularisation.checks.regularisation import drop, where
from walkthrough.ch13_regularisation.checks.smoothing import smoothed_loss

__all__ = ["drop", "smoothed_loss", "where"]
