"""The checks of chapter 18."""

from walkthrough.ch18_constituency_parsing.checks.rules import allowed, decoder
from walkthrough.ch18_constituency_parsing.checks.scores import f1, spans

__all__ = ["allowed", "decoder", "f1", "spans"]
