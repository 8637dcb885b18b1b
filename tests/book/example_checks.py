"""A check of walkthrough's own kind, for the example chapter."""

from walkthrough.checking import ValueCheck

doubled = ValueCheck(name="doubled", expected=2)
