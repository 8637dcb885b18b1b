"""The same page in every browser, on paper, in high contrast, and where no script runs.

A page of each kind; all pages where EVERY_PAGE=1 asks for them, as the weekly run does.
"""

import io
import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from browsing import PROBES
from built import site_pages
from engines import FIREFOX, WEBKIT, Engine, firefox, missing, webkit
from PIL import Image
from playwright.sync_api import Browser, Page
from pypdf import PdfReader
from test_print import printed

from walkthrough.drawing.look import SHUT, WEIGHT

pytestmark = pytest.mark.site

ENGINES = {"firefox": (firefox, FIREFOX, any), "webkit": (webkit, WEBKIT, all)}
MASKS = "book/03-masks.html"
CHARTS = "book/02-scaled-dot-product-attention.html"
LEDGER = "book/ledger.html"
LIVE = "book/21-translate-in-your-browser.html"
A_PAGE_A_KIND = {
    "firefox": (
        "book/00-one-sentence.html",
        CHARTS,
        MASKS,
        "book/07-positional-encoding.html",
        "book/16-translation.html",
        LIVE,
        "genindex.html",
        "search.html",
    ),
    "webkit": (CHARTS, MASKS, LIVE, "search.html"),
}
WIDE = (1280, 800)
FITS = "() => [...probes.overflowing(), ...probes.brokenFormulas(), ...probes.wideScenes()]"
SCENES_FIT = "() => probes.wideScenes()"
SIZES = ((WIDE, FITS), ((375, 800), FITS), ((360, 800), SCENES_FIT))
UNTIL = """const until = async (holds, tenths) => {
    for (let n = 0; n < tenths && !holds(); n += 1) await new Promise((on) => setTimeout(on, 100));
  };"""
KEPT = "document.cookie.includes('predictions=')"
COUNTED = f"""async () => {{
  {UNTIL}
  const line = document.querySelector("#where-you-are > p");
  await until(() => line.textContent.startsWith("You have made"), 50);
  return line.textContent;
}}"""
TRANSLATED = f"""async () => {{
  {UNTIL}
  const place = document.querySelector(".live-translator");
  if (!place) return null;
  await until(() => place.querySelector("button"), 600);
  place.querySelector("button").click();
  await until(() => place.dataset.translation || place.dataset.state === "failed", 600);
  return place.dataset.translation ?? place.textContent;
}}"""

# Firefox calls a script that was still on its way when its page was left an error of the next page.
LOADING_ENDED = f"""async () => {{
  {UNTIL}
  const begun = () => document.querySelector("head script[src*='vendor/vega']");
  await until(() => !begun() || document.querySelector(".chart[data-drawn]"), 600);
}}"""


def two_colours(picture: Image.Image) -> bool:
    """Whether stripes of two colours go through all of it, as far as they may be seen."""
    shades = np.asarray(picture.convert("L"), dtype=int)
    low, high = shades.min(), shades.max()
    dark = shades < (low + high) / 2
    through = [row.any() and not row.all() for row in (*dark, *dark.T)]
    return bool(high - low > 40 and np.mean(through) > 0.9)


def inside(picture: Image.Image, box: dict[str, float]) -> Image.Image:
    """What of a picture is in a box of the page, less its frame."""
    left, top, width, height = (box[name] for name in ("x", "y", "width", "height"))
    return picture.crop((left + 3, top + 3, left + width - 3, top + height - 3))


def faults(engine: Engine, address: str) -> Iterator[str]:
    """What is wrong with a page, in the words of a reader."""
    engine.resize(*WIDE)
    engine.open(address)
    engine.ask(f"() => {{ {PROBES.read_text('utf-8')} }}")
    engine.ask("() => document.fonts.ready.then(() => true)")
    for n in range(engine.ask("() => probes.closed().length")):
        box = engine.ask("(n) => probes.bring(n)", n)
        looks = (two_colours(inside(engine.picture(), box)) for _ in range(3))  # not painted yet?
        if not any(looks):
            yield f"a closed cell is not hatched: {box['figure']}"
    if os.environ.get("EVERY_PAGE"):
        engine.ask("() => probes.scrollThrough()")
        yield from (f"not drawn: {name}" for name in engine.ask("() => probes.drawnAtLast()"))
    for size, question in SIZES:
        engine.resize(*size)
        yield from (f"{fault} at {size[0]} px" for fault in engine.ask(question))
    if (
        said := engine.ask(TRANSLATED)
    ) is not None and "The neighbours think that this mouse is white" not in said:
        yield f"the translator says {said}"
    engine.ask(LOADING_ENDED)
    yield from engine.complaints()


@pytest.mark.parametrize("name", ENGINES)
def test_pages_look_and_work_the_same(built_site: Path, site_url: str, name: str) -> None:
    started, programs, needed = ENGINES[name]
    if line := missing(programs, needed):
        pytest.skip(line)
    pages = site_pages() if os.environ.get("EVERY_PAGE") else A_PAGE_A_KIND[name]
    with started() as engine:
        found = [
            f"{page}: {fault}" for page in pages for fault in faults(engine, f"{site_url}/{page}")
        ]
        if name == "firefox":
            found += lost_between_files(engine, built_site)
    assert not found, "\n".join(found)


def lost_between_files(engine: Engine, site: Path) -> list[str]:
    """A prediction that is made on one page, opened as a file, and not counted on another."""
    engine.open((site / MASKS).as_uri())
    engine.ask("() => { document.querySelector('.prediction summary').click(); }")
    engine.ask(f"async () => {{ {UNTIL} await until(() => {KEPT}, 50); }}")
    engine.open((site / "book/index.html").as_uri())
    said = engine.ask(COUNTED)
    return [] if "made 1 prediction" in said else [f"predictions made in other files: {said}"]


# Paper and high contrast, which Chromium can be asked for -----------------------------------------

PAINT = re.compile(r"([\d.]+) ([\d.]+) ([\d.]+) rg\b")
OPEN, CLOSED = WEIGHT, SHUT
VERDICTS = ("#009e73", "#e0a400", "#8b959f")  # of book.css, those that claims have
UNSEEN_AT_ONCE = """() => {
  window.dispatchEvent(new Event("beforeprint"));
  const shown = (svg) => svg.getClientRects().length;
  const seen = (chart) => [...chart.parentElement.querySelectorAll("svg")].some(shown);
  const charts = [...document.querySelectorAll(".chart")];
  return charts.filter((chart) => !seen(chart)).map((chart) => chart.id);
}"""
NO_BACKGROUND = "* { background: none !important }"


def paints(pdf: PdfReader) -> Counter[str]:
    """How often each colour fills something on paper."""
    drawn = "".join(str(sheet.get_contents().get_data(), "latin1") for sheet in pdf.pages)
    return Counter(
        "#" + "".join(f"{round(255 * float(part)):02x}" for part in one)
        for one in PAINT.findall(drawn)
    )


def test_print_without_backgrounds_keeps_every_map(page: Page, site_url: str) -> None:
    for name, wanted in ((MASKS, (OPEN, CLOSED)), (LEDGER, VERDICTS)):
        page.goto(f"{site_url}/{name}")
        found = paints(printed(page))
        assert [colour for colour in wanted if found[colour] < 3] == [], name


def test_print_waits_for_no_chart(page: Page, site_url: str) -> None:
    page.goto(f"{site_url}/{CHARTS}")
    page.emulate_media(media="print")
    assert page.evaluate(UNSEEN_AT_ONCE) == []
    page.wait_for_function("() => !document.querySelector('.chart:not([data-drawn])')")
    assert page.locator(".chart-still").filter(visible=True).count() == 0, "they are there twice"


def shades(page: Page, selector: str) -> list[float]:
    """How light each of these is, on the whole."""
    found = page.locator(selector).filter(visible=True).all()[:8]
    pictures = [Image.open(io.BytesIO(one.screenshot())).convert("L") for one in found]
    return [float(np.asarray(one).mean()) for one in pictures]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_high_contrast_keeps_what_a_fill_says(page: Page, site_url: str, scheme: str) -> None:
    page.emulate_media(forced_colors="active", color_scheme=scheme)
    page.goto(f"{site_url}/{MASKS}")
    page.evaluate(PROBES.read_text("utf-8"))
    box = page.evaluate("() => probes.bring(0)")
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    assert two_colours(inside(picture, box))
    ground = picture.getpixel((900, 5))
    assert abs(shades(page, "#scene-lead .cells i")[0] - np.mean(ground)) > 40
    page.goto(f"{site_url}/{LEDGER}")
    page.wait_for_selector(".claim-squares a")
    squares = shades(page, ".claim-key i")
    assert len({round(one) for one in squares}) == len(squares)


def test_a_closed_cell_is_told_from_an_open_one_without_any_background(
    page: Page, site_url: str
) -> None:
    page.goto(f"{site_url}/{MASKS}")
    page.add_style_tag(content=NO_BACKGROUND)
    first, second = shades(page, "#scene-lead .cells span")[:2]  # <s> sees itself, not what follows
    assert second - first > 80
    assert second < 250, "and a closed cell is not white"


def test_without_a_script_charts_are_stills_and_no_button_is_spoken_of(
    browser: Browser, site_url: str
) -> None:
    context = browser.new_context(java_script_enabled=False)
    still = context.new_page()
    still.goto(f"{site_url}/{CHARTS}")
    boxes = still.locator("div[id^=altair-viz]").count()
    pictures = still.locator(".chart-still svg[aria-label]")
    assert pictures.count() == boxes
    assert pictures.filter(visible=True).count() > 3  # the others stand in solutions
    still.goto(f"{site_url}/{LIVE}")
    assert "JavaScript" in still.locator(".live-translator").inner_text()
    assert "a button here" not in still.locator("article").inner_text()
    context.close()


def test_a_cell_with_broken_hatching_is_noticed() -> None:
    whole = Image.new("L", (40, 40), 255)
    for x in range(40):
        for y in range(40):
            if (x + y) % 7 < 2:
                whole.putpixel((x, y), 120)
    assert two_colours(whole)
    broken = whole.copy()
    broken.paste(255, (0, 10, 40, 40))
    assert not two_colours(broken)
    assert not two_colours(Image.new("L", (40, 40), 255))
