"""The checks of chapter 19's exercises."""

from walkthrough.ch19_what_the_heads_attend_to.checks.ablating import without_head
from walkthrough.ch19_what_the_heads_attend_to.checks.hiding import hide
from walkthrough.ch19_what_the_heads_attend_to.checks.looking import fixed_distance

__all__ = ["fixed_distance", "hide", "without_head"]
