"""Charts wait until they come near the screen; printing asks for all of them at once."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from browsing import drawn_charts
from playwright.sync_api import Page
from test_checkers import written

pytestmark = pytest.mark.site

SPEC = {"data": {"values": [{"x": 1}]}, "mark": "point", "encoding": {"x": {"field": "x"}}}
APART = '<p style="height:3000px">a long text</p>'  # px; a chart counts as near at 600
BOX = '<div id="altair-viz-{0}"></div><script>vegaEmbed("#altair-viz-{0}", {1}, {{}})</script>'


def three_charts(folder: Path, site: Path) -> str:
    """Write a page with charts 3 000 px apart, and return its address."""
    script = (site / "_static" / "charts.js").as_uri()
    boxes = [BOX.format(number, json.dumps(SPEC)) for number in (1, 2, 3)]
    return written(
        folder, APART.join(boxes) + APART, head=f'<script src="{script}"></script>'
    ).as_uri()


def wait_for(page: Page, numbers: Sequence[int]) -> None:
    """Wait until these charts are drawn."""
    boxes = ", ".join(f"#altair-viz-{number}[data-drawn]" for number in numbers)
    counted = f"() => document.querySelectorAll('{boxes}').length === {len(numbers)}"
    page.wait_for_function(counted, polling=100)


def test_a_chart_is_drawn_when_it_comes_near_and_not_before(
    page: Page, tmp_path: Path, built_site: Path
) -> None:
    page.goto(three_charts(tmp_path, built_site))
    wait_for(page, [1])
    assert drawn_charts(page) == ["altair-viz-1"]

    page.evaluate("() => document.querySelector('#altair-viz-3').scrollIntoView()")
    wait_for(page, [3])
    assert drawn_charts(page) == ["altair-viz-1", "altair-viz-3"]


def test_printing_draws_every_chart(page: Page, tmp_path: Path, built_site: Path) -> None:
    page.goto(three_charts(tmp_path, built_site))
    wait_for(page, [1])
    page.evaluate("() => window.dispatchEvent(new Event('beforeprint'))")
    wait_for(page, [1, 2, 3])


def map_of(n: int, step: int, *, pinned: bool = False) -> dict:
    """A map of n words with cells of a given size, perhaps with a word at a given pixel."""
    words = [f"word{i}" for i in range(n)]
    values = [{"query": one, "key": other} for one in words for other in words]
    x = {"field": "key", "axis": {"orient": "top", "labelAngle": -45}}
    cells = {"mark": "rect", "encoding": {"x": x, "y": {"field": "query"}}}
    words_on = {"mark": {"type": "text", "fontSize": 11, "text": "a"}}
    if pinned:
        words_on["encoding"] = {"y": {"value": n * step}}
    size = {"width": {"step": step}, "height": {"step": step}}
    title = {"text": ["A title that was broken for a phone", "needs no second line"]}
    return {"data": {"values": values}, "layer": [cells, words_on], "title": title, **size}


def drawn_map(page: Page, folder: Path, site: Path, spec: dict) -> dict[str, float]:
    """Draw it, and return what a reader sees of it, in px."""
    static = (site / "_static").as_uri()
    head = f'<script src="{static}/charts.js"></script>'
    head += f'<link rel="stylesheet" href="{static}/book.css">'
    body = f'<div class="bd-article">{BOX.format(1, json.dumps(spec))}</div>'
    page.goto(written(folder, body, head=head).as_uri())
    wait_for(page, [1])
    return page.evaluate("""() => {
        const svg = document.querySelector("svg.marks");
        const size = (text) => parseFloat(getComputedStyle(text).fontSize);
        const letters = [...svg.querySelectorAll(".role-axis text")].map(size);
        const cells = svg.querySelectorAll(".mark-rect.role-mark path");
        const right = (part) => part.getBoundingClientRect().right;
        const axes = [...svg.querySelectorAll(".role-axis")].map(right);
        return {
            cell: cells[0].getBoundingClientRect().width,
            letters: Math.min(...letters),
            lines: svg.querySelectorAll(".role-title-text tspan").length || 1,
            height: svg.getBoundingClientRect().height,
            over: Math.max(...axes) - right(document.querySelector(".chart")),
        };
    }""")


def test_a_map_on_a_wide_column_has_large_cells_and_letters(
    page: Page, tmp_path: Path, built_site: Path
) -> None:
    small = drawn_map(page, tmp_path, built_site, map_of(5, 34))
    assert small["cell"] == 64
    assert small["letters"] >= 14
    assert small["lines"] == 1
    large = drawn_map(page, tmp_path, built_site, map_of(24, 14))
    assert large["cell"] > 20
    assert large["height"] <= 760
    assert large["over"] <= 0


def test_a_map_on_a_phone_keeps_its_cells_or_shrinks_them_a_little(
    phone: Page, tmp_path: Path, built_site: Path
) -> None:
    small = drawn_map(phone, tmp_path, built_site, map_of(5, 34))
    assert small["cell"] == 34
    assert small["letters"] < 14
    assert small["lines"] == 2
    tight = drawn_map(phone, tmp_path, built_site, map_of(10, 29))
    assert 0.8 * 29 <= tight["cell"] <= 29
    assert tight["over"] <= 0
    assert drawn_map(phone, tmp_path, built_site, map_of(30, 29))["cell"] == 29


def test_a_map_fits_again_when_the_window_changes(
    page: Page, tmp_path: Path, built_site: Path
) -> None:
    assert drawn_map(page, tmp_path, built_site, map_of(5, 34))["cell"] == 64
    cell = "document.querySelector('.mark-rect.role-mark path').getBoundingClientRect().width"
    page.set_viewport_size({"width": 375, "height": 800})
    page.wait_for_function(f"{cell} <= 34")  # its letters stay large, so it may shrink a little
    page.set_viewport_size({"width": 1280, "height": 800})
    page.wait_for_function(f"{cell} === 64")


def test_what_stands_at_a_given_pixel_keeps_its_map_small(
    page: Page, tmp_path: Path, built_site: Path
) -> None:
    assert drawn_map(page, tmp_path, built_site, map_of(5, 34, pinned=True))["cell"] == 34
