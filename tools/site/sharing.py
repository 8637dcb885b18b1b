"""What others see of a page: its title, its description, its picture, its one address.

The address of the site follows from the repository's (`_config.yml`), as GitHub Pages serves it,
unless `html: baseurl:` names another. sphinxext-opengraph was looked at and left: it describes a
page by its first words, and here every page has a description of its own.
"""

import html
import re
import textwrap
from pathlib import Path
from typing import Any
from urllib.parse import urljoin
from xml.sax.saxutils import escape

import numpy as np
from docutils import nodes
from matplotlib.figure import Figure
from PIL import Image
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ConfigError
from tools.site.search_index import in_order, page_names

PICTURES = "_static/sharing"
WIDTH, HEIGHT = 1200, 630  # what readers of Open Graph expect
GROUND, INK, QUIET, MARK = "#14181d", "#f2f5f8", "#a3adb8", "#7cc0f2"
# Queries and keys of chapter 02: person, action, place, time of "Jane visits Africa in September".
QUERIES = [[0, 1, 0, 0], [2, 0, 1, 0], [0, 2, 0, 0], [0, 0, 0, 2], [0, 1, 0, 1]]
KEYS = [[2, 0, 0, 0], [0, 2, 0, 0], [0, 0, 2, 0], [0, 0, 0, 1], [0, 0, 0, 2]]
FRONT_DOOR = "index"
MADE = {  # pages that Sphinx makes: name, description
    "search": ("Search", "Find a section, a term, an exercise or a claim, with its sentence."),
    "genindex": ("Index", "The terms of the book in alphabetical order."),
}


def site_address(repository: str) -> str:
    """Where GitHub Pages serves a repository.

    Raises:
        ConfigError: it is not the address of a repository on GitHub.
    """
    match repository.removesuffix("/").removesuffix(".git").split("/"):
        case ["https:", "", "github.com", owner, name]:
            root = f"https://{owner.lower()}.github.io/"
            return root if name.lower() == f"{owner.lower()}.github.io" else f"{root}{name}/"
    raise ConfigError(
        f"repository.url is {repository!r}, expected https://github.com/OWNER/NAME; "
        "for another host, set html.baseurl to the address of the site"
    )


def settle_address(app: Sphinx, config: Config) -> None:
    """Give Sphinx the address from which it makes canonical links."""
    if not config.html_baseurl:
        config.html_baseurl = site_address(config.html_theme_options.get("repository_url", ""))


def description_of(doctree: nodes.document | None, page: str) -> str:
    """The sentence of a page's `html_meta`."""
    found = doctree.findall(nodes.meta) if doctree else ()
    said = (meta["content"] for meta in found if meta.get("name") == "description")
    return next(said, MADE.get(page, ("", ""))[1])


def picture_of(page: str) -> str:
    """Where a page's picture lies in the site."""
    return f"{PICTURES}/{page.rpartition('/')[2]}.png"


def open_front_door(app: Sphinx) -> None:
    """At the address of the site stands a page that leads to the first one and looks like it.

    The external table of contents would write a bare redirect there.
    """
    app.config.html_additional_pages[FRONT_DOOR] = "front_door.html"


def describe(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Add the tags that search engines and link previews read."""
    shown = doctree
    if page == FRONT_DOOR:
        page = app.config.root_doc
        shown = app.env.get_doctree(page)
        context["pageurl"] = urljoin(app.config.html_baseurl, app.builder.get_target_uri(page))
    book = app.config.html_title
    name = page_names(app.env).get(page, MADE.get(page, ("", ""))[0])
    first = page == app.config.root_doc
    context["full_title"] = book if first or not name else f"{name} · {book}"
    description = description_of(shown, page)
    tags = context.get("metatags") or ""
    if not doctree and description:
        tags += tag("name", "description", description)
    if page in app.env.found_docs:
        tags += "".join(
            tag("property", f"og:{key}", value)
            for key, value in {
                "type": "book" if first else "article",
                "site_name": book,
                "title": name,
                "description": description,
                "url": context["pageurl"],
                "image": urljoin(app.config.html_baseurl, picture_of(page)),
                "image:width": str(WIDTH),
                "image:height": str(HEIGHT),
                "image:alt": f"{name}, and a map of attention weights",
            }.items()
        )
        tags += tag("name", "twitter:card", "summary_large_image")
    context["metatags"] = tags


def tag(key: str, name: str, content: str) -> str:
    """One line of a page's head."""
    return f'\n    <meta {key}="{name}" content="{html.escape(content)}" />'


def draw(path: Path, book: str, name: str, part: str) -> None:
    """Draw the picture of a page: its name, its book, and the weights of chapter 02."""
    figure = Figure(figsize=(WIDTH / 100, HEIGHT / 100), dpi=100, facecolor=GROUND)
    lines = textwrap.wrap(name, 15)
    size = 54 if len(lines) < 4 else 44
    figure.text(0.06, 0.86, part, color=MARK, fontsize=24, va="center")
    figure.text(
        0.06, 0.52, "\n".join(lines), color=INK, fontsize=size, weight="bold", va="center",
        linespacing=1.2,
    )  # fmt: skip
    figure.text(0.06, 0.12, book, color=QUIET, fontsize=22, va="center")
    scores = np.array(QUERIES) @ np.array(KEYS).T / 2
    weights = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    axes = figure.add_axes((0.66, 0.25, 0.29, 0.29 * WIDTH / HEIGHT))
    axes.imshow(weights, cmap="cividis", vmin=0, vmax=0.8)
    axes.set_xticks(np.arange(0.5, 4), minor=True)
    axes.set_yticks(np.arange(0.5, 4), minor=True)
    axes.grid(which="minor", color=GROUND, linewidth=6)
    axes.tick_params(which="both", length=0, labelbottom=False, labelleft=False)
    axes.spines[:].set_visible(False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)
    with Image.open(path) as picture:
        picture.convert("RGB").quantize(64).save(path, optimize=True)


def parts_of(app: Sphinx) -> dict[str, str]:
    """What a page is, in two words: its chapter's number, or the part that it stands in."""
    parts = {page: "Appendix" for page in in_order(app.env)}
    for page, name in page_names(app.env).items():
        if number := re.match(r"(\d\d[a-z]?) ", name):
            parts[page] = f"Chapter {number[1]}"
    parts[app.config.root_doc] = "A book that runs"
    return parts


def write(app: Sphinx, error: Exception | None) -> None:
    """Draw the pictures that are not there, and list the pages for search engines."""
    if error or app.builder.format != "html":
        return
    names, parts = page_names(app.env), parts_of(app)
    addresses = []
    for page in in_order(app.env):
        path = Path(app.outdir, picture_of(page))
        if not path.exists():
            name = re.sub(r"^\d\d[a-z]? ", "", names[page])
            draw(
                path,
                "" if page == app.config.root_doc else app.config.html_title,
                name,
                parts[page],
            )
        addresses.append(urljoin(app.config.html_baseurl, app.builder.get_target_uri(page)))
    entries = "".join(f"  <url><loc>{escape(address)}</loc></url>\n" for address in addresses)
    sitemap = '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="{}">\n{}</urlset>\n'
    schema = "http://www.sitemaps.org/schemas/sitemap/0.9"
    Path(app.outdir, "sitemap.xml").write_text(sitemap.format(schema, entries), encoding="utf-8")
    line = f"Sitemap: {urljoin(app.config.html_baseurl, 'sitemap.xml')}"
    Path(app.outdir, "robots.txt").write_text(
        f"User-agent: *\nAllow: /\n{line}\n", encoding="utf-8"
    )


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx when to call."""
    app.connect("config-inited", settle_address)
    app.connect("builder-inited", open_front_door)
    app.connect("html-page-context", describe)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
