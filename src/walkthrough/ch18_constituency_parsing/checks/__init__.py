"""The checks of chapter 18."""

from walkthrough.ch18_constituency_parsing.checks.rules import allowed
from walkthrough.ch18_constituency_parsing.checks.scores import f1, spans

__all__ = ["allowed", "f1", "spans"]
