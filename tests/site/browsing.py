"""What a page of the site must do, as functions that look at one page in a browser.

Each returns the faults it found; `test_checkers.py` shows each of them a page that is wrong.
"""

import gzip
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

from playwright.sync_api import ConsoleMessage, Page, Request, Response
from playwright.sync_api import TimeoutError as PlaywrightTimeout

ROOT = Path(__file__).resolve().parents[2]
AXE = ROOT / "book" / "web" / "node_modules" / "axe-core" / "axe.min.js"
PROBES = Path(__file__).with_name("probes.js")
LOCAL_SCHEMES = {"data", "blob", "about"}
COMPRESSED = ("text/", "javascript", "json", "xml", "svg", "font/ttf")
LEAST_CONTRAST = 4.5

SHIFT_OBSERVER = """
window.layoutShift = 0;
new PerformanceObserver((list) => {
  const entries = list.getEntries().filter((entry) => !entry.hadRecentInput);
  for (const entry of entries) window.layoutShift += entry.value;
}).observe({ type: "layout-shift", buffered: true });
"""


@dataclass
class Visit:
    """Everything one page asked for and complained about, from its first request on."""

    page: Page
    requests: list[str] = field(default_factory=list)
    responses: list[Response] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("request", self._requested)
        self.page.on("response", self._responded)
        self.page.on("console", self._said)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("requestfailed", lambda r: self.errors.append(f"{r.url}: {r.failure}"))
        self.page.add_init_script(SHIFT_OBSERVER)

    def _requested(self, request: Request) -> None:
        self.requests.append(request.url)

    def _said(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.errors.append(f"{message.text} ({message.location['url']})")

    def _responded(self, response: Response) -> None:
        self.responses.append(response)

    def third_party(self) -> list[str]:
        """Requests that leave the site: to another host, or from a file to any host."""
        home = urlparse(self.page.url)
        strangers = []
        for url in self.requests:
            parts = urlparse(url)
            same = (parts.scheme, parts.netloc) == (home.scheme, home.netloc)
            if not same and parts.scheme not in LOCAL_SCHEMES:
                strangers.append(url)
        return strangers

    def weight(self, *, without: str | None = None) -> int:
        """Bytes of the page and all that it loaded, as a server that compresses would send.

        Files with the words `without` in their address are left out.
        """
        total = 0
        for response in self.responses:
            if response.status != 200 or urlparse(response.url).scheme in LOCAL_SCHEMES:
                continue
            if without and without in response.url:
                continue
            body = response.body()
            kind = response.headers.get("content-type", "")
            squeezed = any(word in kind for word in COMPRESSED)
            total += len(gzip.compress(body, 6) if squeezed else body)
        return total


Look = Callable[[Page, Visit], None]


def promised(page: Page, function: str, *, patience: float = 180_000) -> Any:
    """What a function of the page promises, within `patience` ms: `evaluate` alone waits for ever.

    Raises:
        PlaywrightTimeout: the promise is not kept in time.
        AssertionError: it is broken.
    """
    page.evaluate(f"""() => {{
        const keep = (found) => {{ window.promised = found; }};
        keep(null);
        Promise.resolve(({function})()).then(
            (value) => keep({{ value }}), (error) => keep({{ error: String(error) }}));
    }}""")
    page.wait_for_function("() => window.promised", polling=100, timeout=patience)
    kept: dict[str, Any] = page.evaluate("() => window.promised")
    assert "error" not in kept, kept["error"]
    return kept.get("value")


def eventually(page: Page, holds: Callable[[], bool]) -> bool:
    """Whether something comes to hold within a minute, however busy the machine is."""
    for _ in range(600):
        if holds():
            return True
        page.wait_for_timeout(100)
    return False


def open_page(page: Page, url: str, *, read: bool = True, first: Look | None = None) -> Visit:
    """Open a page, scroll through it, and wait for every chart.

    Where it is not `read`, nobody scrolls: every chart is drawn, as it is for the printer. `first`
    looks at it before anybody scrolls. Once in some hundred pages the browser stands still; that
    page is opened once more.
    """
    try:
        return _opened(page, url, read, first)
    except PlaywrightTimeout:
        return _opened(page, url, read, first)


def _opened(page: Page, url: str, read: bool, first: Look | None) -> Visit:
    visit = Visit(page)
    page.goto(url, wait_until="load")
    if first:
        first(page, visit)
    page.evaluate(PROBES.read_text())
    if read:
        promised(page, "() => probes.scrollThrough()")
    shift = layout_shift(page)
    page.evaluate("() => probes.print()")
    with suppress(PlaywrightTimeout):  # `undrawn_charts` says which
        page.wait_for_function("() => probes.allDrawn()", timeout=45_000, polling=100)
    page.evaluate("() => probes.toTheTop()")
    page.wait_for_timeout(100)
    page.evaluate("(shift) => { window.layoutShift = shift; }", shift)  # a print opens solutions
    return visit


def undrawn_charts(page: Page) -> list[str]:
    """Boxes that Altair wrote and no chart appeared in."""
    return page.evaluate("() => probes.undrawn()")


def drawn_charts(page: Page) -> list[str]:
    """Boxes whose chart has appeared."""
    page.evaluate(PROBES.read_text())
    return page.evaluate("() => probes.drawn()")


def layout_shift(page: Page) -> float:
    """Chromium's cumulative layout shift so far."""
    return page.evaluate("() => window.layoutShift")


def elements(page: Page) -> int:
    """How many elements a page has, without what its charts are drawn with."""
    return page.evaluate(
        "() => document.querySelectorAll('*').length - document.querySelectorAll('.chart *').length"
    )


def axe_violations(page: Page, *, contrast: bool | None = None) -> list[str]:
    """Serious and critical violations that axe-core finds: of contrast alone, of all else, or both.

    Contrast is what takes axe the time, and all that another theme can change.
    """
    rules = {
        None: {},
        True: {"runOnly": ["color-contrast"]},
        False: {"rules": {"color-contrast": {"enabled": False}}},
    }
    options = json.dumps({"resultTypes": ["violations"], "preload": False, **rules[contrast]})
    page.evaluate(AXE.read_text("utf-8"))
    found: list[dict[str, Any]] = promised(
        page, f"async () => (await axe.run(document, {options})).violations"
    )
    return [
        f"{rule['id']} ({rule['impact']}): {node['target']} {node['html'][:160]} "
        f"{node.get('failureSummary', '')}"
        for rule in found
        if rule["impact"] in ("serious", "critical")
        for node in rule["nodes"]
    ]


def overflowing(page: Page) -> list[str]:
    """What makes the page scroll sideways, and pictures that are cut; empty when none is."""
    return page.evaluate("() => probes.overflowing()")


def cut_formulas(page: Page) -> list[str]:
    """Formulas whose end cannot be reached, by scrolling their box or with the keyboard."""
    return page.evaluate("() => probes.cutFormulas()")


def nameless_images(page: Page) -> list[str]:
    """Pictures and charts that say nothing to a reader who cannot see them."""
    return page.evaluate("() => probes.nameless()")


def dead_inputs(page: Page) -> list[str]:
    """Sliders and selectors that change nothing in their chart, whatever they are set to."""
    return promised(page, "() => probes.dead()")


def input_values(page: Page) -> list[str]:
    """What every slider and selector is set to."""
    return page.evaluate("() => probes.values()")


def chart_pictures(page: Page) -> list[str]:
    """Every chart as it is drawn now."""
    return page.evaluate("() => probes.pictures()")


def faint_chart_text(page: Page) -> list[str]:
    """Axis, legend and title words with too little contrast against the page."""
    return page.evaluate("(least) => probes.faint(least)", LEAST_CONTRAST)


def light_grounds(page: Page) -> list[str]:
    """Charts that stand on a light ground: in a dark page, a panel that was not cleared."""
    return page.evaluate("() => probes.onLightGround()")


def set_theme(page: Page, theme: str) -> None:
    """Press the theme button, as a reader would, until it says light or dark."""
    for _ in range(4):
        if page.evaluate("() => probes.theme()") == theme:
            return
        page.evaluate("() => probes.pressThemeButton()")
    raise AssertionError(f"the theme button never reaches {theme}")
