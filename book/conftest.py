"""What nbval compares: text.

Pictures and HTML are never stored in git, so a compared cell that also shows one is
judged by its text alone.
"""

RICH = ("text/html", "text/markdown", "image/svg+xml", "application/javascript")


def pytest_collectstart(collector):
    """Let nbval skip the rich forms of an output."""
    if hasattr(collector, "skip_compare"):
        collector.skip_compare += RICH
