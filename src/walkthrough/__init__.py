"""What chapters use: `show` for source, `figures`, `checks` for exercises, and `progress`."""

from walkthrough.page import tables
from walkthrough.page.source import Source, show
from walkthrough.progress import progress

__all__ = ["Source", "progress", "show"]

tables.register()
