"""Beside each chart stands a still of it, in markup that a page with scripts does not make."""

from pathlib import Path
from types import SimpleNamespace

import altair as alt
import pytest
from bs4 import BeautifulSoup
from tools.site.chart_stills import WIDTH, on_paper, still, write_stills

VEGA = Path(__file__).resolve().parents[2] / "book" / "web" / "node_modules" / "vega-lite"
SVG = (
    '<svg class="marks" width="9" height="9" viewBox="0 0 9 9"><g role="graphics-object" '
    'aria-label="x" clip-path="url(#clip0)"><clipPath id="clip0"></clipPath>'
    '<text fill="#000">word</text></g></svg>'
)


def test_a_still_has_ids_of_its_own_the_page_s_ink_and_words_for_who_does_not_see_it():
    shown = BeautifulSoup(still(SVG, "altair-viz-1", 'a "map"'), "html.parser")
    (svg,) = shown.select("noscript > .chart-still > svg")
    assert svg["aria-label"] == 'a "map"'
    assert svg.select_one("clippath")["id"] == "still-1-clip0"
    assert svg.g["clip-path"] == "url(#still-1-clip0)"
    assert svg.select_one("text")["fill"] == "currentColor"
    assert "aria-label" not in svg.g.attrs
    assert "JavaScript" in shown.p.text


def test_a_single_plot_has_a_width_and_cells_keep_theirs():
    assert on_paper({"mark": "bar", "width": "container"})["width"] == WIDTH
    cells = {"mark": "rect", "width": {"step": 20}}
    assert on_paper(cells)["width"] == {"step": 20}
    assert "width" not in on_paper({"hconcat": []})
    assert "width" not in on_paper({"layer": [], "encoding": {"row": {"field": "x"}}})


@pytest.mark.skipif(not VEGA.exists(), reason="browser libraries are fetched by `make book`")
def test_a_page_has_a_still_beside_each_chart_and_once(tmp_path):
    chart = alt.Chart(alt.Data(values=[{"x": "a word"}])).mark_bar().encode(x="x:N")
    written = chart.properties(description="one bar")._repr_mimebundle_()["text/html"]
    page = tmp_path / "page.html"
    page.write_text(f"<p>before</p>{written}<p>between</p>{written}", encoding="utf-8")
    (tmp_path / "other.html").write_text("<p>no chart</p>")
    app = SimpleNamespace(builder=SimpleNamespace(format="html"), outdir=str(tmp_path))
    for _ in range(2):
        write_stills(app, None)
        soup = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")
        stills = soup.select("div[id^=altair-viz] + noscript svg[aria-label='one bar']")
        assert len(stills) == 2
        assert "a word" in stills[0].text
