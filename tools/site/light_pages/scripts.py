"""Scripts wait until the page is read, so that it can be shown before.

All but the early ones, which have a priority of 100 in the configuration: what they offer is
called while the page is read.
"""

from typing import Any

from sphinx.application import Sphinx

EARLY = 100
AS_THEY_ARE = {"search"}  # the words searched for and the index are there as soon as it is read


def waiting(script: Any) -> Any:
    """The same script, run when the page is read, in the order of all that wait."""
    attributes = dict(script.attributes)
    if script.filename and script.priority > EARLY:
        attributes.setdefault("defer", "defer")
    elif "DOCUMENTATION_OPTIONS." in attributes.get("body", ""):
        attributes["type"] = "module"  # what it changes is made by a script that waits
    return type(script)(script.filename, priority=script.priority, **attributes)


def defer_scripts(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object
) -> None:
    """Make the scripts in the head of a page wait."""
    if page not in AS_THEY_ARE:
        context["script_files"] = [waiting(script) for script in context["script_files"]]


def setup(app: Sphinx) -> None:
    """After all others that add scripts."""
    app.connect("html-page-context", defer_scripts, priority=950)
