"""Checks for exercises: each knows the common mistakes and says which one it sees."""

from walkthrough.checks.base import (
    Arguments,
    Case,
    Check,
    Mistake,
    Symptom,
    arguments,
    drawn,
    fixed,
)
from walkthrough.checks.values import ValueCheck, WrongValue
from walkthrough.checks.verdict import Verdict

__all__ = [
    "Arguments",
    "Case",
    "Check",
    "Mistake",
    "Symptom",
    "ValueCheck",
    "Verdict",
    "WrongValue",
    "arguments",
    "drawn",
    "fixed",
]
