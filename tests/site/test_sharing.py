"""What search engines and link previews read of each page."""

import re
from collections import Counter
from pathlib import Path
from urllib.parse import urljoin, urlparse
from xml.etree import ElementTree

import pytest
import yaml
from browsing import ROOT
from bs4 import BeautifulSoup
from built import chapters, site_pages
from PIL import Image
from sphinx.errors import ConfigError
from tools.site.sharing import HEIGHT, WIDTH, site_address

pytestmark = pytest.mark.site

CONFIG = yaml.safe_load((ROOT / "_config.yml").read_text())
BASE = site_address(CONFIG["repository"]["url"])
MOST_LETTERS = 160  # of a description: search engines cut the rest
MOST_BYTES = 60_000
SCHEMA = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
MARKUP = re.compile(r"[*`<>\\]|\]\(|\$")


def content(soup: BeautifulSoup, name: str) -> str:
    """What a meta tag says."""
    found = soup.select(f'meta[name="{name}"], meta[property="{name}"]')
    return str(found[0]["content"]) if len(found) == 1 else f"{len(found)} tags"


def head(path: Path) -> BeautifulSoup:
    """The head of a page; the rest takes a second to parse."""
    return BeautifulSoup(path.read_text(encoding="utf-8").partition("<body")[0], "lxml")


def faults(soup: BeautifulSoup, page: str) -> list[str]:
    """What is wrong with the head of a page."""
    description = content(soup, "description")
    canonical = [str(link["href"]) for link in soup.select("link[rel=canonical]")]
    found = []
    if not 30 <= len(description) <= MOST_LETTERS:
        found.append(f"{len(description)} letters describe it")
    if MARKUP.search(description):
        found.append(f"markup in the description: {description}")
    if canonical != [urljoin(BASE, page)] or content(soup, "og:url") != urljoin(BASE, page):
        found.append(f"address {canonical} and {content(soup, 'og:url')}")
    if content(soup, "og:description") != description:
        found.append("two descriptions")
    if not soup.title or content(soup, "og:title") not in soup.title.text:
        found.append("two titles")
    if not content(soup, "og:image").startswith(urljoin(BASE, "_static/sharing/")):
        found.append(f"picture {content(soup, 'og:image')}")
    if not soup.html or not soup.html.get("lang"):
        found.append("no language")
    return found


def test_every_page_says_what_it_is(built_site: Path) -> None:
    wrong = {page: faults(head(built_site / page), page) for page in chapters()}
    assert {page: found for page, found in wrong.items() if found} == {}


def test_the_address_of_the_site_itself_looks_like_the_first_page(built_site: Path) -> None:
    """Its `index.html` only leads on, and those who preview links do not follow."""
    soup = head(built_site / "index.html")
    assert faults(soup, "book/index.html") == []
    assert "url=book/index.html" in str(soup.select_one("meta[http-equiv=refresh]"))
    assert content(soup, "twitter:card") == "summary_large_image"


def test_titles_and_descriptions_differ(built_site: Path) -> None:
    soups = [head(built_site / page) for page in site_pages()]
    titles = Counter(soup.title.text for soup in soups if soup.title)
    descriptions = Counter(content(soup, "description") for soup in soups)
    assert [title for title, times in titles.items() if times > 1] == []
    assert [text for text, times in descriptions.items() if times > 1] == []
    assert f"03 Masks · {CONFIG['title']}" in titles
    assert CONFIG["title"] in titles


HEAD = f"""<html lang="en"><head><title>03 Masks · Book</title>
<meta name="description" content="How masks decide who may look at whom, and why.">
<meta property="og:description" content="How masks decide who may look at whom, and why.">
<meta property="og:title" content="03 Masks"><meta property="og:url" content="{BASE}book/a.html">
<meta property="og:image" content="{BASE}_static/sharing/a.png">
<link rel="canonical" href="{BASE}book/a.html"></head></html>"""


def test_a_right_head_has_no_faults() -> None:
    assert faults(BeautifulSoup(HEAD, "lxml"), "book/a.html") == []


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ('content="How masks', 'content="How `masks`'),
        ("and why.", "and why. " * 20),
        (' href="https://', ' href="/https://'),
        ('property="og:description" content="How', 'property="og:description" content="Why'),
        ('"og:title" content="03 Masks', '"og:title" content="04 Heads'),
        ("_static/sharing/a.png", "picture.svg"),
        (' lang="en"', ""),
        ("<meta name=", '<meta name="description" content="Twice."><meta name='),
    ],
)
def test_a_wrong_head_is_seen(right: str, wrong: str) -> None:
    assert right in HEAD
    soup = BeautifulSoup(HEAD.replace(right, wrong), "lxml")
    assert faults(soup, "book/a.html") != []


def test_every_page_has_a_picture_of_the_right_size(built_site: Path) -> None:
    sizes = {}
    for page in chapters():
        soup = head(built_site / page)
        path = built_site / content(soup, "og:image").removeprefix(BASE)
        with Image.open(path) as picture:
            assert (picture.format, picture.size) == ("PNG", (WIDTH, HEIGHT)), page
        sizes[page] = path.stat().st_size
    assert max(sizes.values()) <= MOST_BYTES


def test_the_site_map_lists_the_pages_and_nothing_else(built_site: Path) -> None:
    tree = ElementTree.parse(built_site / "sitemap.xml").getroot()
    listed = [str(place.text) for place in tree.iter(f"{SCHEMA}loc")]
    assert sorted(listed) == sorted(urljoin(BASE, page) for page in chapters())
    robots = (built_site / "robots.txt").read_text()
    assert f"Sitemap: {urljoin(BASE, 'sitemap.xml')}" in robots


@pytest.mark.parametrize(
    ("repository", "address"),
    [
        ("https://github.com/Owner/name", "https://owner.github.io/name/"),
        ("https://github.com/owner/name.git", "https://owner.github.io/name/"),
        ("https://github.com/owner/owner.github.io/", "https://owner.github.io/"),
    ],
)
def test_the_address_follows_from_the_repository(repository: str, address: str) -> None:
    assert site_address(repository) == address
    assert urlparse(address).scheme == "https"


@pytest.mark.parametrize("repository", ["", "https://gitlab.com/owner/name", "github.com/owner"])
def test_a_repository_elsewhere_is_refused(repository: str) -> None:
    with pytest.raises(ConfigError, match=r"html\.baseurl"):
        site_address(repository)
