"""The checks of chapter 11's exercises."""

from walkthrough.ch11_subwords_and_batches.checks.grouping import group
from walkthrough.ch11_subwords_and_batches.checks.learning import learn
from walkthrough.ch11_subwords_and_batches.checks.spelling import spell

__all__ = ["group", "learn", "spell"]
