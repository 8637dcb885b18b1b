"""The form of a page, made from plain Markdown, as one Sphinx extension.

What an author writes reads well in any editor, in JupyterLab and in Colab; here it gets its place:
a chapter's first lines become its opener, terms and aims stand in the margin, a paragraph that
begins with **Figure 2.3** becomes a caption, and the page's contents stand below its chapter.
"""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from tools.site.page_form import captions, contents, margin, opener


def shape(app: Sphinx, document: nodes.document, page: str) -> None:
    """Bring a page into its form; links are resolved by now."""
    if app.builder.format != "html":
        return
    opener.shape(document, page)
    margin.shape(app, document, page)
    captions.shape(app, document, page)


def setup(app: Sphinx) -> dict[str, Any]:
    """Join the parts to a build."""
    app.connect("doctree-resolved", shape)
    app.connect("html-page-context", opener.add_ways_to_run, priority=900)
    app.connect("html-page-context", contents.show_contents, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
