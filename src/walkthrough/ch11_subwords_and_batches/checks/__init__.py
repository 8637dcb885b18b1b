"""The checks of chapter 11's exercises."""

from walkthrough.ch11_subwords_and_batches.checks.batches import cut, group, padding_share
from walkthrough.ch11_subwords_and_batches.checks.subwords import next_merge, spell

__all__ = ["cut", "group", "next_merge", "padding_share", "spell"]
