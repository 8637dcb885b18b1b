"""`show(thing)`: the package's own source on the page, highlighted, with a link to its lines."""

import html
import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from walkthrough.page.links import repository_path, source_url

LIGHT = {
    "bg": "#f6f8fa",
    "fg": "#24292f",
    "keyword": "#a5223a",
    "string": "#0a3a74",
    "comment": "#57606a",
    "number": "#0550ae",
    "name": "#6f2dbd",
    "link": "#0550ae",
}
DARK = {
    "bg": "#161b22",
    "fg": "#e6edf3",
    "keyword": "#ff8f88",
    "string": "#a5d6ff",
    "comment": "#9aa4af",
    "number": "#79c0ff",
    "name": "#d2a8ff",
    "link": "#79c0ff",
}
# Pygments' short class names, grouped by the colour they share.
_TOKENS = {
    "keyword": ("k", "kc", "kd", "kn", "kr", "kt", "ow", "o"),
    "string": ("s", "s1", "s2", "sd", "sa", "se", "si", "sb"),
    "comment": ("c", "c1", "cm", "ch"),
    "number": ("m", "mi", "mf", "mh", "nb", "bp"),
    "name": ("nf", "nc", "fm", "nd"),
}
# How the hosts of this page say that they are dark: the book, JupyterLab, Colab, VS Code.
_DARK_HOSTS = (
    "html[data-theme=dark]",
    "body[data-jp-theme-light=false]",
    "html[theme=dark]",
    "body.vscode-dark",
)


def dark_and_light_css(selector: str, light: dict[str, str], dark: dict[str, str]) -> str:
    """Return CSS that sets custom properties on `selector`, in the light and in every dark host."""

    def properties(palette: dict[str, str]) -> str:
        return ";".join(f"--{name}:{value}" for name, value in palette.items())

    hosts = ",".join(f"{host} {selector}" for host in _DARK_HOSTS)
    undecided = "html:not([data-theme]):not([theme]):not(:has(body[data-jp-theme-light]))"
    return (
        f"{selector}{{{properties(light)}}}"
        f"@media(prefers-color-scheme:dark){{{undecided} {selector}{{{properties(dark)}}}}}"
        f"{hosts}{{{properties(dark)}}}"
    )


def source_style() -> str:
    """Return the CSS of listings, once for a page that puts several together."""
    # `:where` weighs nothing, so a page's own style sheet wins over this fallback.
    tokens = "".join(
        f":where(.source) :is({','.join('.' + name for name in names)}){{color:var(--{group})}}"
        for group, names in _TOKENS.items()
    )
    return (
        dark_and_light_css(".source", LIGHT, DARK)
        + ":where(.source){margin:.5em 0;border:1px solid #8884;border-radius:6px;overflow:hidden;"
        "background:var(--bg);color:var(--fg)}"
        ".source .source-head{padding:.35em .8em;font-size:.85em;border-bottom:1px solid #8884;"
        "overflow-wrap:anywhere;background:var(--bg);color:var(--fg)}"
        ".source .source-head code{color:inherit;background:none;border:0;padding:0}"
        ".source .source-head a{color:var(--link);text-decoration:underline}"
        ".source pre{white-space:pre-wrap;overflow-wrap:anywhere}"
        ".source .line{display:block;padding-left:var(--i);text-indent:calc(-1*var(--i))}"
        ":where(.source) pre{margin:0;padding:.6em .8em;overflow-x:auto;"
        "line-height:1.45;background:var(--bg);color:var(--fg)}" + tokens
    )


@dataclass(frozen=True)
class _Listing:
    name: str
    code: str
    path: str | None
    first_line: int
    last_line: int

    def html(self) -> str:
        lit = highlight(self.code, PythonLexer(), HtmlFormatter(nowrap=True))
        body = "".join(
            f'<span class="line" style="--i:{_indent(plain)}ch">{line}</span>'
            for plain, line in zip(self.code.splitlines(), lit.splitlines(True), strict=True)
        )
        name = html.escape(self.name)
        return (
            f'<div class="source"><div class="source-head"><code>{name}</code>{self._link()}</div>'
            f'<div class="highlight"><pre tabindex="0" role="region" '
            f'aria-label="Source of {name}">{body}</pre></div></div>'
        )

    def _link(self) -> str:
        if self.path is None:
            return ""
        url = source_url(self.path, self.first_line, self.last_line)
        lines = f"{self.path}, lines {self.first_line}–{self.last_line}"
        return f' · <a href="{html.escape(url)}">{html.escape(lines)}</a>'


def _indent(line: str) -> int:
    """Where the rest of a line stands that is too long for its column."""
    return len(line) - len(line.lstrip()) + 4


@dataclass(frozen=True)
class Source:
    """Source code to look at: HTML where the page can show it, plain text elsewhere."""

    listings: tuple[_Listing, ...]
    folded: bool = False

    def __repr__(self) -> str:
        return "\n\n".join(listing.code.rstrip("\n") for listing in self.listings)

    def _repr_html_(self) -> str:
        return f"<style>{source_style()}</style>{self.unstyled_html()}"

    def unstyled_html(self) -> str:
        """Return the listings as HTML for a page that has `source_style()` already."""
        shown = "".join(item.html() for item in self.listings)
        names = ", ".join(item.name.rpartition(".")[2] for item in self.listings)
        summary = f"<summary>Read <code>{html.escape(names)}</code> in one piece</summary>"
        return f"<details>{summary}{shown}</details>" if self.folded else shown


def show(*objects: Any, folded: bool = False) -> Source:
    """Return the source of functions, classes or methods, ready to be displayed.

    `folded`, it waits behind a line that says what it is.

    Raises:
        TypeError: nothing was passed, or something that has no Python source.
    """
    if not objects:
        raise TypeError("show() needs at least one function, class or method; got nothing")
    return Source(tuple(_listing(thing) for thing in objects), folded)


def _listing(thing: Any) -> _Listing:
    plain = _underlying(thing)
    try:
        lines, first_line = inspect.getsourcelines(plain)
        file = inspect.getsourcefile(plain)
    except (OSError, TypeError) as error:
        raise TypeError(
            f"show() prints functions, classes and methods written in Python; {thing!r} "
            f"(a {type(thing).__name__}) has no source to print"
        ) from error
    code = textwrap.dedent("".join(lines))
    name = f"{plain.__module__}.{plain.__qualname__}".removeprefix("__main__.")
    path = repository_path(file) if file else None
    return _Listing(name, code, path, first_line, first_line + len(lines) - 1)


def _underlying(thing: Any) -> Callable[..., Any]:
    if isinstance(thing, property) and thing.fget is not None:
        thing = thing.fget
    thing = getattr(thing, "__func__", thing)
    if not (inspect.isclass(thing) or inspect.isroutine(thing)):
        raise TypeError(
            "show() prints functions, classes and methods written in Python; "
            f"got {thing!r} (a {type(thing).__name__})"
        )
    return inspect.unwrap(thing)
