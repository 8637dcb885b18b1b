"""The checks of chapter 19's exercises."""

from walkthrough.ch19_what_the_heads_attend_to.checks.ablating import without_head
from walkthrough.ch19_what_the_heads_attend_to.checks.hiding import hide
from walkthrough.ch19_what_the_heads_attend_to.checks.looking import fixed_distance, share_found

__all__ = ["fixed_distance", "hide", "share_found", "without_head"]
