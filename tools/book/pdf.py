"""Bind all pages of the built site into one file with a table of contents: _build/book.pdf.

The system's Chromium prints every page as a reader would (`@media print` in book.css); pypdf joins
them. Pages are numbered through, links between chapters lead inside the file, other links of the
site to the place where it is served.
"""

import argparse
import html
import io
import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

import yaml
from playwright.sync_api import Browser, Page, sync_playwright
from pypdf import PageObject, PdfReader, PdfWriter
from pypdf.constants import PageLabelStyle
from pypdf.generic import ArrayObject, DictionaryObject, FloatObject, NameObject, NullObject
from pypdf.generic import TextStringObject as Text

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PATIENCE_MS = 180_000
PAPER = {"width": 680, "height": 994}  # A4 less the margins of book.css
CROSS_LINK = re.compile(r'href="([^"#:]*\.html)#([^"]+)"')
SETTLED = """async () => {
    window.dispatchEvent(new Event("beforeprint"));
    await document.fonts.ready;
}"""
DRAWN = "() => [...document.querySelectorAll('.chart')].every((chart) => chart.dataset.drawn)"
# Chromium gives a name to a place that a link of the same page leads to.
MARK = """(places) => {
    const box = document.createElement("div");
    box.style.cssText = "position: absolute; opacity: 0; font-size: 1px";
    box.ariaHidden = "true";
    for (const place of places) {
        if (!document.getElementById(place)) continue;
        const link = document.createElement("a");
        link.href = "#" + encodeURIComponent(place);
        link.textContent = ".";
        box.append(link);
    }
    document.querySelector("article").append(box);
}"""
NUMBERS = """
@page {{
  @bottom-center {{ content: counter(page{style}); font: 8pt sans-serif; color: #565e67; }}
  @top-right {{ content: "{head}"; font: 8pt sans-serif; color: #565e67; }}
}}
html {{ counter-reset: page {before}; }}
"""
CONTENTS = """<!doctype html><html lang="en"><head><meta charset="utf-8">
<title>{title}</title><style>
@page {{ size: A4; margin: 16mm 15mm 18mm; }}
body {{ font: 10pt system-ui, sans-serif; color: #24292e; }}
h1 {{ font-size: 26pt; line-height: 1.15; margin: 45mm 0 6mm; }}
.from {{ color: #565e67; margin-bottom: 30mm; }}
h2 {{ font-size: 9pt; letter-spacing: 0.06em; text-transform: uppercase; margin: 6mm 0 1mm; }}
p {{ display: flex; justify-content: space-between; margin: 1mm 0; }}
a {{ color: inherit; text-decoration: none; }}
</style></head><body><h1>{title}</h1><div class="from">{address}</div>{entries}</body></html>"""


@dataclass(frozen=True)
class Printed:
    """A chapter on paper."""

    page: str
    part: str
    name: str
    first: int  # its first sheet, counted from 0 through the book
    reader: PdfReader

    def places(self) -> Iterator[tuple[str, int, float]]:
        """Every place with a name: the name, the sheet of the book, the height on it."""
        for name, place in self.reader.named_destinations.items():
            number = self.reader.get_destination_page_number(place)
            if number is not None:
                yield unquote(name.lstrip("/")), self.first + number, float(place.top or 0)


def chapters_of(root: Path) -> dict[str, str]:
    """The pages in the order of the table of contents, with the part that each stands in."""
    toc = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    found = {f"{toc['root']}.html": ""}
    for part in toc["parts"]:
        found |= {f"{one['file']}.html": part["caption"] for one in part["chapters"]}
    return found


def browser_path() -> str:
    """The browser that prints.

    Raises:
        SystemExit: there is none.
    """
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        raise SystemExit(f"no browser to print with (looked for {', '.join(BROWSERS)})")
    return path


def linked_places(site: Path, chapters: Iterable[str]) -> dict[str, set[str]]:
    """For each page the places in it that other pages lead to."""
    found: dict[str, set[str]] = {name: set() for name in chapters}
    for name in found:
        for address, place in CROSS_LINK.findall((site / name).read_text("utf-8")):
            target = urljoin(name, html.unescape(address))
            if target in found:
                found[target].add(unquote(place))
    return found


def sheets(page: Page, head: str, before: int, style: str = "") -> PdfReader:
    """Print a page whose sheets are numbered from `before` + 1."""
    quoted = head.replace("\\", "").replace('"', "”")
    page.add_style_tag(content=NUMBERS.format(head=quoted, before=before, style=style))
    paper = page.pdf(prefer_css_page_size=True, print_background=True, outline=True, tagged=True)
    return PdfReader(io.BytesIO(paper))


def open_chapter(browser: Browser, address: str) -> Page:
    """Open a page as paper will show it, every chart drawn."""
    page = browser.new_page(viewport=PAPER, color_scheme="light")  # type: ignore[arg-type]
    page.set_default_timeout(PATIENCE_MS)
    page.goto(address, wait_until="load")
    page.evaluate(SETTLED)
    page.wait_for_function(DRAWN, polling=100)
    return page


def print_chapters(
    browser: Browser, site: Path, chapters: dict[str, str]
) -> tuple[list[Printed], str]:
    """Print all chapters; returns them, and the address where the site is served."""
    places = linked_places(site, chapters)
    found: list[Printed] = []
    served, before = "", 0
    for file, part in chapters.items():
        page = open_chapter(browser, (site / file).as_uri())
        canonical = page.locator("link[rel=canonical]").get_attribute("href") or ""
        served = served or canonical.removesuffix(file)
        name = page.title().partition(" · ")[0]
        page.evaluate(MARK, sorted(places[file]))
        reader = sheets(page, name, before)
        page.close()
        found.append(Printed(file, part, name, before, reader))
        before += len(reader.pages)
        print(f"{name}: {len(reader.pages)} sheets", flush=True)
    return found, served


def contents(browser: Browser, site: Path, chapters: list[Printed], served: str) -> PdfReader:
    """The title and the table of contents."""
    lines, part = [], ""
    for chapter in chapters:
        if chapter.part != part:
            part = chapter.part
            lines.append(f"<h2>{html.escape(part)}</h2>")
        link = html.escape((site / chapter.page).as_uri())
        name = html.escape(chapter.name)
        lines.append(f'<p><a href="{link}">{name}</a> <span>{chapter.first + 1}</span></p>')
    page = browser.new_page(viewport=PAPER)  # type: ignore[arg-type]
    title = html.escape(chapters[0].name)
    page.set_content(CONTENTS.format(title=title, address=served, entries="".join(lines)))
    found = sheets(page, "", 0, ", lower-roman")
    page.close()
    return found


def destination(sheet: PageObject, top: float | None) -> ArrayObject:
    """A place in the file: a sheet, and a height on it."""
    reference = sheet.indirect_reference
    height = NullObject() if top is None else FloatObject(top)
    return ArrayObject([reference, NameObject("/XYZ"), NullObject(), height, NullObject()])


class Binder:
    """Joins what was printed, and turns its links."""

    def __init__(self, site: Path, served: str, chapters: list[Printed], front: PdfReader) -> None:
        self.home = site.as_uri() + "/"
        self.served = served
        self.writer = PdfWriter()
        self.shift = len(front.pages)
        self.chapters = chapters
        self.writer.append(front, import_outline=False)
        for chapter in chapters:
            self.writer.append(chapter.reader, import_outline=False)
        self.places: dict[tuple[str, str], ArrayObject] = {}
        for chapter in chapters:
            self.places[chapter.page, ""] = self.place(chapter.first, None)
            for name, number, top in chapter.places():
                self.places[chapter.page, name] = self.place(number, top)

    def place(self, number: int, top: float | None) -> ArrayObject:
        """A place on a sheet of the book."""
        return destination(self.writer.pages[self.shift + number], top)

    def outline(self) -> None:
        """The chapters and their sections."""
        for chapter in self.chapters:
            start = self.shift + chapter.first
            parent = self.writer.add_outline_item(title=chapter.name, page_number=start)
            for heading in sections(chapter.reader.outline):
                number = chapter.reader.get_destination_page_number(heading)
                self.writer.add_outline_item(
                    title=str(heading.title), page_number=start + (number or 0), parent=parent
                )

    def turn_links(self) -> None:
        """Lead links to the file itself where it holds their goal."""
        for number, sheet in enumerate(self.writer.pages):
            here = self.page_at(number - self.shift)
            for reference in sheet.get("/Annots") or ():
                link = reference.get_object()
                if "/Dest" in link:
                    self.lead(link, here, unquote(str(link["/Dest"]).lstrip("/")))
                elif "/URI" in link.get("/A", {}):
                    self.lead_out(link)

    def page_at(self, number: int) -> str:
        """Which page of the site a sheet belongs to."""
        before = [chapter.page for chapter in self.chapters if chapter.first <= number]
        return before[-1] if before else ""

    def lead(self, link: DictionaryObject, page: str, place: str) -> None:
        """Lead a link to a place, or to the page that should hold it."""
        goal = self.places.get((page, place)) or self.places[page, ""]
        link.pop("/A", None)
        link[NameObject("/Dest")] = goal

    def lead_out(self, link: DictionaryObject) -> None:
        """A link that Chromium wrote as an address."""
        action: Any = link["/A"]
        address = str(action["/URI"])
        if not address.startswith(self.home):
            return
        path, place = urldefrag(address.removeprefix(self.home))
        if (path, "") in self.places:
            self.lead(link, path, unquote(place))
        else:
            action[NameObject("/URI")] = Text(urljoin(self.served, address.removeprefix(self.home)))

    def save(self, path: Path) -> None:
        """Write the file."""
        self.outline()
        self.turn_links()
        self.writer.root_object.pop("/Dests", None)  # names of one chapter, taken by the next
        self.writer.set_page_label(0, self.shift - 1, style=PageLabelStyle.LOWERCASE_ROMAN)
        last = len(self.writer.pages) - 1
        self.writer.set_page_label(self.shift, last, style=PageLabelStyle.DECIMAL, start=1)
        self.writer.add_metadata({"/Title": self.chapters[0].name})
        self.writer.compress_identical_objects()
        self.writer.write(path)


def sections(outline: list[Any]) -> Iterator[Any]:
    """The headings right below the first of an outline."""
    for below in (part for part in outline if isinstance(part, list)):
        yield from (heading for heading in below if not isinstance(heading, list))


def bind(browser: Browser, root: Path, target: Path) -> int:
    """Print and bind the book of a repository; returns the number of sheets.

    Raises:
        SystemExit: there is no built site.
    """
    site, chapters = root / "_build" / "html", chapters_of(root)
    lost = [name for name in chapters if not (site / name).exists()]
    if lost:
        raise SystemExit(f"{site / lost[0]} is not there: run `make book` first")
    found, served = print_chapters(browser, site, chapters)
    binder = Binder(site, served, found, contents(browser, site, found, served))
    binder.save(target)
    return len(binder.writer.pages)


def main() -> int:
    """Parse the command line and bind."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2])
    root = parser.parse_args().root.resolve()
    target = root / "_build" / "book.pdf"
    arguments = ["--disable-gpu"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        arguments.append("--no-sandbox")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path(), args=arguments)
        number = bind(browser, root, target)
        browser.close()
    print(f"\n{number} sheets, {target.stat().st_size / 1e6:.0f} MB: {target}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
