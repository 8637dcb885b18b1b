"""The checks of chapter 16's exercises."""

from walkthrough.ch16_translation.checks.bleu import bleu, days_on_one
from walkthrough.ch16_translation.checks.matches import matches, penalty

__all__ = ["bleu", "days_on_one", "matches", "penalty"]
