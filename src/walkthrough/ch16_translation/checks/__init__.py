"""The checks of chapter 16's exercises."""

from walkthrough.ch16_translation.checks.bleu import bleu
from walkthrough.ch16_translation.checks.brevity import penalty
from walkthrough.ch16_translation.checks.matches import matches

__all__ = ["bleu", "matches", "penalty"]
