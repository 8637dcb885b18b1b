"""What chapters use: `show` for source, `figures`, and `checks` for exercises."""

from walkthrough.page import tables
from walkthrough.page.source import Source, show

__all__ = ["Source", "show"]

tables.register()
