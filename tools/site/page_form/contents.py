"""The contents of a page, below its chapter in the bar on the left."""

from collections.abc import Callable
from typing import Any

from bs4 import BeautifulSoup
from docutils import nodes
from sphinx.application import Sphinx


def headings(document: nodes.document) -> list[tuple[str, str]]:
    """Anchor and words of each second-level heading."""
    top = next(iter(document.findall(nodes.section)), None)
    parts = [node for node in top.children if isinstance(node, nodes.section)] if top else []
    return [(part["ids"][0], part.next_node(nodes.title).astext()) for part in parts]


def with_contents(tree: Callable[..., Any], found: list[tuple[str, str]]) -> Callable[..., Any]:
    """The theme's own function for the bar, whose current page also shows its headings."""

    def drawn(*args: Any, **kwargs: Any) -> Any:
        soup = tree(*args, **kwargs)
        current = soup.select("li.current.active") if isinstance(soup, BeautifulSoup) else []
        if current and not current[-1].select("ul.here"):
            within = soup.new_tag("ul", attrs={"class": "here"})
            for anchor, words in found:
                item, link = soup.new_tag("li"), soup.new_tag("a", href=f"#{anchor}")
                link.string = words
                item.append(link)
                within.append(item)
            current[-1].append(within)
        return soup

    return drawn


def show_contents(
    app: Sphinx,
    page: str,
    template: str,
    context: dict[str, Any],
    doctree: nodes.document | None,
) -> None:
    """Add the headings of a page to the bar."""
    found = headings(doctree) if doctree else []
    if found and "generate_toctree_html" in context:
        context["generate_toctree_html"] = with_contents(context["generate_toctree_html"], found)
