"""The checks of chapter 11's exercises."""

from walkthrough.ch11_subwords_and_batches.checks.batches import group, lay_out, padding_share
from walkthrough.ch11_subwords_and_batches.checks.subwords import learn, spell

__all__ = ["group", "lay_out", "learn", "padding_share", "spell"]
