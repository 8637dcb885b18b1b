"""Each checker is shown a page that is wrong, and one that is right."""

import random
from pathlib import Path
from typing import Any

import pytest
from browsing import (
    Visit,
    axe_violations,
    cut_formulas,
    dead_inputs,
    elements,
    eventually,
    faint_chart_text,
    layout_shift,
    light_grounds,
    nameless_images,
    open_page,
    overflowing,
    promised,
    undrawn_charts,
)
from playwright.sync_api import Page
from playwright.sync_api import TimeoutError as PlaywrightTimeout
from test_site import broken_links, foreign_resources

pytestmark = pytest.mark.site

HEAD = """<!doctype html><html lang="en"><head><title>A page</title>
<meta name="viewport" content="width=device-width">"""
SLIDER = """
<div class="chart" id="chart-1" data-drawn="true">
<svg class="marks" role="img" aria-label="A line" width="100" height="40">
<g class="role-axis"><text x="5" y="20" fill="{ink}">axis</text></g>
<rect id="bar" width="10" height="10"></rect></svg>
<form class="vega-bindings">
<label>k <input type="range" name="k" min="1" max="5" value="1"></label></form></div>
"""
ALIVE = """<script>document.querySelector('input').addEventListener('input', (e) =>
document.querySelector('#bar').setAttribute('width', e.target.value * 10))</script>"""
IMAGE = '<img alt="A dot" src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">'
GOOD = SLIDER.format(ink="currentColor") + ALIVE + IMAGE
JUMP = """<div id="top_"></div><p style="height:500px">text</p>
<script>const jump = () => { document.querySelector('#top_').style.height = '400px' }</script>"""
LINKS = """<a href="lost.html">x</a><a href="#nowhere">y</a><a href="#here">z</a>
<p id="here"></p>"""
BADGE = """<img alt="badge" src="https://badge.example/b.svg">
<a href="https://example.org">fine</a>"""


def written(folder: Path, body: str, name: str = "page.html", head: str = "") -> Path:
    """Write a page whose text is `body`."""
    path = folder / name
    path.write_text(
        f"{HEAD}{head}</head><body><main><h1>Title</h1><article>{body}</article></main></body></html>"
    )
    return path


def visit(page: Page, folder: Path, body: str, head: str = "") -> Visit:
    return open_page(page, written(folder, body, head=head).as_uri())


def test_a_right_page_passes_every_checker(page: Page, tmp_path: Path) -> None:
    seen = visit(page, tmp_path, GOOD, head='<link rel="icon" href="data:,">')
    assert seen.third_party() == []
    assert seen.errors == []
    for checker in (
        axe_violations,
        overflowing,
        undrawn_charts,
        nameless_images,
        faint_chart_text,
        dead_inputs,
    ):
        assert checker(page) == [], checker.__name__
    assert layout_shift(page) < 0.1


def test_a_script_from_a_cdn_is_seen(page: Page, tmp_path: Path) -> None:
    page.route("https://cdn.example/**", lambda route: route.fulfill(body=""))
    seen = visit(page, tmp_path, GOOD, head='<script src="https://cdn.example/vega.js"></script>')
    assert seen.third_party() == ["https://cdn.example/vega.js"]


def test_a_script_from_a_cdn_is_seen_over_http(page: Page, tmp_path: Path, served: str) -> None:
    page.route("https://cdn.example/**", lambda route: route.fulfill(body=""))
    written(tmp_path, '<script src="https://cdn.example/vega.js"></script>')
    assert open_page(page, f"{served}/page.html").third_party() == ["https://cdn.example/vega.js"]


@pytest.mark.parametrize(
    "script", ["console.error('no')", "throw new Error('no')", "Promise.reject(new Error('no'))"]
)
def test_an_error_in_the_console_is_seen(page: Page, tmp_path: Path, script: str) -> None:
    seen = visit(page, tmp_path, f"<script>{script}</script>")
    assert any("no" in error for error in seen.errors)


def test_a_missing_file_is_seen(page: Page, tmp_path: Path) -> None:
    assert visit(page, tmp_path, '<script src="lost.js"></script>').errors


def test_words_too_faint_to_read_are_seen(page: Page, tmp_path: Path) -> None:
    visit(page, tmp_path, '<p style="color:#bbb;background:#fff">faint</p>')
    for contrast, seen in ((None, True), (True, True), (False, False)):
        found = axe_violations(page, contrast=contrast)
        assert any("color-contrast" in fault for fault in found) is seen


def test_chart_words_that_stay_dark_in_the_dark_are_seen(page: Page, tmp_path: Path) -> None:
    dark = "<style>body{background:#14181d;color:#eee}</style>"
    visit(page, tmp_path, SLIDER.format(ink="#222222"), head=dark)
    assert faint_chart_text(page)


def test_a_light_panel_behind_a_chart_is_seen(page: Page, tmp_path: Path) -> None:
    visit(page, tmp_path, f'<div style="background:#f5f5f5">{GOOD}</div>')
    assert light_grounds(page) == ["chart-1"]


def test_a_slider_that_does_nothing_is_seen(page: Page, tmp_path: Path) -> None:
    visit(page, tmp_path, SLIDER.format(ink="currentColor"))
    assert len(dead_inputs(page)) == 1


def test_a_page_wider_than_a_phone_is_seen(phone: Page, tmp_path: Path) -> None:
    visit(phone, tmp_path, '<div class="wide" style="width:600px">wide</div>')
    assert any("wide" in fault for fault in overflowing(phone))


def test_a_picture_wider_than_its_box_is_seen(phone: Page, tmp_path: Path) -> None:
    svg = '<svg class="still" aria-label="two lines" style="width:{}px;height:9px"></svg>'
    box = '<div class="output" style="width:300px;overflow:auto">' + svg + "</div>"
    visit(phone, tmp_path, box.format(400))
    assert overflowing(phone) == ["picture cut: two lines"]
    visit(phone, tmp_path, box.format(300))
    assert overflowing(phone) == []


@pytest.mark.parametrize(
    ("box", "formula", "tab", "cut"),
    [
        ("overflow:hidden", "width:max-content", "0", True),
        ("overflow:auto", "width:max-content", "-1", True),
        ("overflow:auto;display:flex;flex-direction:row-reverse", "width:max-content", "0", True),
        ("overflow:auto", "width:max-content", "0", False),
    ],
)
def test_a_formula_that_is_cut_off_is_seen(
    phone: Page, tmp_path: Path, box: str, formula: str, tab: str, cut: bool
) -> None:
    letters = "<mi>abc</mi><mo>=</mo>" * 40
    visit(
        phone,
        tmp_path,
        f'<div class="math" style="width:300px;{box}" tabindex="{tab}">'
        f'<math display="block" style="{formula}"><mrow>{letters}</mrow></math></div>',
    )
    assert bool(cut_formulas(phone)) is cut


def test_a_chart_that_is_not_drawn_is_seen(page: Page, tmp_path: Path) -> None:
    visit(page, tmp_path, '<div id="altair-viz-1"></div>')
    assert undrawn_charts(page) == ["altair-viz-1"]


def test_a_picture_without_words_is_seen(page: Page, tmp_path: Path) -> None:
    nameless = GOOD.replace('alt="A dot"', 'alt=""').replace('aria-label="A line"', "")
    visit(page, tmp_path, nameless)
    assert len(nameless_images(page)) == 2


def test_a_page_that_jumps_is_seen(page: Page, tmp_path: Path) -> None:
    visit(page, tmp_path, JUMP)
    page.evaluate("() => jump()")
    assert eventually(page, lambda: layout_shift(page) > 0.1)


def test_a_heavy_page_is_weighed(page: Page, tmp_path: Path, served: str) -> None:
    noise = random.Random(0).randbytes(1_500_000)
    (tmp_path / "noise.png").write_bytes(noise)
    written(tmp_path, '<img alt="noise" src="noise.png">')
    heavy = open_page(page, f"{served}/page.html")
    assert heavy.weight() > 1_200_000
    assert heavy.weight(without="noise") < 10_000


def test_the_elements_of_a_page_are_counted_without_those_of_charts(
    page: Page, tmp_path: Path
) -> None:
    visit(page, tmp_path, GOOD)
    few = elements(page)
    visit(page, tmp_path, GOOD + "<p>one</p>" * 50 + SLIDER.format(ink="currentColor"))
    assert elements(page) == few + 51  # the second chart is one box


def test_broken_links_and_foreign_resources_are_seen(tmp_path: Path) -> None:
    written(tmp_path, LINKS)
    assert len(broken_links(tmp_path, ["page.html"])) == 2
    written(tmp_path, BADGE)
    assert foreign_resources(tmp_path, ["page.html"]) == ["page.html: https://badge.example/b.svg"]


def test_a_promise_that_is_not_kept_ends_the_waiting(page: Page) -> None:
    assert promised(page, "async () => 7") == 7
    assert promised(page, "() => undefined") is None
    with pytest.raises(AssertionError, match="no such chart"):
        promised(page, "async () => { throw new Error('no such chart'); }")
    with pytest.raises(PlaywrightTimeout):
        promised(page, "() => new Promise(() => {})", patience=300)


def test_a_page_that_stood_still_is_opened_once_more(
    page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stalls = [PlaywrightTimeout("no frame"), None]

    def stalling(page: Page, function: str) -> Any:
        if stalls and (stall := stalls.pop(0)):
            raise stall
        return promised(page, function)

    monkeypatch.setattr("browsing.promised", stalling)
    assert visit(page, tmp_path, GOOD).errors == []

    stalls[:] = 2 * [PlaywrightTimeout("no frame")]
    with pytest.raises(PlaywrightTimeout):
        visit(page, tmp_path, GOOD)
