"""Checks for exercises: each knows the common mistakes and says which one it sees."""

from walkthrough.checking.base import (
    Arguments,
    Case,
    Check,
    Forbidden,
    Mistake,
    Symptom,
    arguments,
    drawn,
    fixed,
)
from walkthrough.checking.own import OwnCheck
from walkthrough.checking.values import ValueCheck, WrongValue
from walkthrough.checking.verdict import Verdict

__all__ = [
    "Arguments",
    "Case",
    "Check",
    "Forbidden",
    "Mistake",
    "OwnCheck",
    "Symptom",
    "ValueCheck",
    "Verdict",
    "WrongValue",
    "arguments",
    "drawn",
    "fixed",
]
