"""What holds for the site as a whole: links, versions."""

import json
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlparse

import altair
import pytest
from browsing import ROOT
from bs4 import BeautifulSoup
from built import site_pages

from walkthrough.doctor.report import SITE, WORDS, Finding

pytestmark = pytest.mark.site

FOREIGN_RESOURCES = "script[src], img[src], iframe[src], source[src], link[href]"
HARMLESS_LINKS = {"canonical", "next", "prev", "search", "index", "author", "license"}


def parsed(path: Path) -> BeautifulSoup:
    return BeautifulSoup(path.read_text(encoding="utf-8"), "lxml")


def broken_links(site: Path, pages: list[str]) -> list[str]:
    """Links inside the site that lead to no file, or to no place in it."""
    soups = {(site / page).resolve(): parsed(site / page) for page in pages}
    places = {path: {tag["id"] for tag in soup.select("[id]")} for path, soup in soups.items()}
    broken = []
    for path, soup in soups.items():
        for link in soup.select("a[href]"):
            address, fragment = urldefrag(str(link["href"]))
            if urlparse(address).scheme or address.startswith("//"):
                continue
            target = (path.parent / unquote(address.split("?")[0])).resolve() if address else path
            lost = fragment and target in places and unquote(fragment) not in places[target]
            if lost or not target.exists():
                broken.append(f"{path.relative_to(site.resolve())}: {link['href']}")
    return broken


def foreign_resources(site: Path, pages: list[str]) -> list[str]:
    """Addresses of other hosts that a page would load something from, even if only on a click."""
    foreign = []
    for page in pages:
        for tag in parsed(site / page).select(FOREIGN_RESOURCES):
            address = str(tag.get("src") or tag.get("href"))
            if tag.name == "link" and set(tag.get("rel") or ()) & HARMLESS_LINKS:
                continue
            if urlparse(address).netloc:
                foreign.append(f"{page}: {address}")
    return foreign


def test_every_internal_link_leads_somewhere(built_site: Path) -> None:
    assert broken_links(built_site, site_pages()) == []


def test_no_page_names_a_foreign_resource(built_site: Path) -> None:
    assert foreign_resources(built_site, site_pages()) == []


def test_charts_script_claims_the_versions_that_altair_asks_for() -> None:
    script = (ROOT / "book" / "web" / "charts.js").read_text()
    for name, version in (
        ("vega_version", altair.VEGA_VERSION),
        ("vegalite_version", altair.VEGALITE_VERSION),
        ("vegaembed_version", altair.VEGAEMBED_VERSION),
    ):
        assert f'{name}: "{version}"' in script


def test_libraries_are_the_ones_that_the_versions_claim() -> None:
    """What package.json brings must satisfy what Altair's output asked a CDN for."""
    wanted = json.loads((ROOT / "book" / "web" / "package.json").read_text())["dependencies"]
    assert f"{wanted['vega']}.".startswith(f"{altair.VEGA_VERSION}.")
    assert f"{wanted['vega-lite']}.".startswith(f"{altair.VEGALITE_VERSION}.")
    assert f"{wanted['vega-embed']}.".startswith(f"{altair.VEGAEMBED_VERSION}.")


def test_what_the_doctor_links_to_is_there(built_site: Path) -> None:
    for name in WORDS:
        page, place = urldefrag(Finding(name, "").link.removeprefix(SITE))
        assert parsed(built_site / page).find(id=place), f"{name}: {page}#{place}"


def test_what_a_cell_prints_stands_in_one_piece(built_site: Path) -> None:
    """A busy machine sends what is printed in parts, which would break a line."""
    pieces = [
        len(output.find_all("div", class_="stream", recursive=False))
        for page in site_pages()
        for output in parsed(built_site / page).select("div.cell_output")
    ]
    assert sum(pieces) > 100
    assert max(pieces) == 1
