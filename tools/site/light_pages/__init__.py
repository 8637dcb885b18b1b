"""What makes the site's pages light, as one Sphinx extension.

Formulas are set when the book is built, one stylesheet holds what the pages use and no more, and
code is marked where a mark shows, and scripts wait.
"""

from typing import Any

from sphinx.application import Sphinx
from tools.site.light_pages import markup, mathematics, stylesheet


def setup(app: Sphinx) -> dict[str, Any]:
    """Join the parts to a build."""
    for part in (mathematics, stylesheet, markup):
        part.setup(app)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": False}
