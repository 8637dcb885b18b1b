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
