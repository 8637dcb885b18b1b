"""The checks of chapter 21's exercises."""

from walkthrough.ch21_translate_in_your_browser.checks.counting import multiplications
from walkthrough.ch21_translate_in_your_browser.checks.loop import greedy
from walkthrough.ch21_translate_in_your_browser.checks.tied import names_of

__all__ = ["greedy", "multiplications", "names_of"]
