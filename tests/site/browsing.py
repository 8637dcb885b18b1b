"""What a page of the site must do, as functions that look at one page in a browser.

Each returns the faults it found, so that `test_checkers.py` can show each of them a page that is wrong.
"""

import gzip
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

from playwright.sync_api import Page, Request, Response
from playwright.sync_api import TimeoutError as PlaywrightTimeout

ROOT = Path(__file__).resolve().parents[2]
AXE = ROOT / "book" / "web" / "node_modules" / "axe-core" / "axe.min.js"
LOCAL_SCHEMES = {"data", "blob", "about"}
COMPRESSED = ("text/", "javascript", "json", "xml", "svg", "font/ttf")

SHIFT_OBSERVER = """
window.layoutShift = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.layoutShift += entry.value;
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
        self.page.on("console", lambda m: m.type == "error" and self.errors.append(m.text))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("requestfailed", lambda r: self.errors.append(f"{r.url}: {r.failure}"))
        self.page.add_init_script(SHIFT_OBSERVER)

    def _requested(self, request: Request) -> None:
        self.requests.append(request.url)

    def _responded(self, response: Response) -> None:
        self.responses.append(response)

    def third_party(self) -> list[str]:
        """Requests that leave the site: another host, or a file's page that uses the network."""
        home = urlparse(self.page.url)
        strangers = []
        for url in self.requests:
            parts = urlparse(url)
            same = (parts.scheme, parts.netloc) == (home.scheme, home.netloc)
            if not same and parts.scheme not in LOCAL_SCHEMES:
                strangers.append(url)
        return strangers

    def weight(self) -> int:
        """Bytes of the page and all that it loaded, as a server that compresses would send them."""
        total = 0
        for response in self.responses:
            if response.status != 200 or urlparse(response.url).scheme in LOCAL_SCHEMES:
                continue
            body = response.body()
            kind = response.headers.get("content-type", "")
            total += len(gzip.compress(body, 6)) if any(k in kind for k in COMPRESSED) else len(body)
        return total


def open_page(page: Page, url: str) -> Visit:
    """Open a page, let its mathematics settle, and scroll until every chart is drawn."""
    visit = Visit(page)
    page.goto(url, wait_until="load")
    settle(page)
    return visit


def settle(page: Page) -> None:
    """Scroll from top to bottom, as a reader does: charts are drawn when they come near."""
    page.evaluate("() => window.MathJax?.startup?.promise")
    page.evaluate(
        """async () => {
          const pause = (ms) => new Promise((done) => setTimeout(done, ms));
          for (let y = 0; y < document.body.scrollHeight; y += 600) {
            window.scrollTo({ top: y, behavior: "instant" });
            await pause(30);
          }
        }"""
    )
    try:
        page.wait_for_function(
            "() => [...document.querySelectorAll('.chart')].every((c) => c.dataset.drawn)",
            timeout=15_000,
        )
    except PlaywrightTimeout:
        pass  # `undrawn_charts` says which
    page.evaluate("() => window.scrollTo({ top: 0, behavior: 'instant' })")
    page.wait_for_timeout(100)


def undrawn_charts(page: Page) -> list[str]:
    """Boxes that Altair wrote and no chart appeared in."""
    return page.evaluate(
        """() => [...document.querySelectorAll('[id^="altair-viz"], .chart')]
          .filter((box) => !box.querySelector('svg.marks')).map((box) => box.id)"""
    )


def layout_shift(page: Page) -> float:
    """Chromium's cumulative layout shift so far."""
    return page.evaluate("() => window.layoutShift")


def axe_violations(page: Page) -> list[str]:
    """Serious and critical violations that axe-core finds."""
    page.evaluate(AXE.read_text())
    found: list[dict[str, Any]] = page.evaluate(
        "async () => (await axe.run(document, { resultTypes: ['violations'] })).violations"
    )
    return [
        f"{rule['id']} ({rule['impact']}): {node['target']} {node['html'][:160]} "
        f"{node.get('failureSummary', '')}"
        for rule in found
        if rule["impact"] in ("serious", "critical")
        for node in rule["nodes"]
    ]


def overflowing(page: Page) -> list[str]:
    """What makes the page scroll sideways: empty when it does not."""
    return page.evaluate(
        """() => {
          const width = document.documentElement.clientWidth;
          if (document.documentElement.scrollWidth <= width) return [];
          const wide = [...document.querySelectorAll('body *')].filter((e) => {
            const box = e.getBoundingClientRect();
            return box.width && box.right > width + 1;
          });
          const names = wide.slice(0, 6).map((e) => `${e.tagName}.${e.className?.baseVal ?? e.className}`);
          return [`page is ${document.documentElement.scrollWidth} px wide at ${width} px`, ...names];
        }"""
    )


def nameless_images(page: Page) -> list[str]:
    """Pictures in the text that a reader who cannot see them is told nothing about."""
    return page.evaluate(
        """() => [
          ...[...document.querySelectorAll('article img')].filter((i) => !i.alt.trim()).map((i) => i.src.slice(-80)),
          ...[...document.querySelectorAll('.chart svg.marks')]
            .filter((s) => !s.getAttribute('aria-label') || s.getAttribute('aria-label') === 'Chart')
            .map((s) => 'chart without description: ' + s.closest('.chart').id),
        ]"""
    )


_INPUTS = ".vega-bindings input, .vega-bindings select"
_TRY = """
async ([input, attempt]) => {
  const box = input.closest('.chart, .vega-embed');
  const picture = () => box.querySelector('svg.marks, canvas')?.outerHTML;
  const before = picture();
  const send = (...names) => names.forEach((n) => input.dispatchEvent(new Event(n, { bubbles: true })));
  if (input.tagName === 'SELECT') {
    const others = [...input.options].map((_, i) => i).filter((i) => i !== input.selectedIndex);
    if (!others.length) return false;
    input.selectedIndex = others[attempt % others.length];
    send('input', 'change');
  } else if (input.type === 'radio' || input.type === 'checkbox') {
    if (input.type === 'radio' && input.checked) {
      // the one that is chosen proves itself when we come back to it
      const other = [...box.querySelectorAll(`input[name="${input.name}"]`)].find((i) => i !== input);
      if (!other) return false;
      other.click();
    } else input.click();
  } else {
    const ends = [input.max || 100, input.min || 0, (Number(input.max || 100) + Number(input.min || 0)) / 2];
    input.value = ends[attempt % ends.length];
    send('input', 'change');
  }
  for (let wait = 0; wait < 60; wait += 1) {
    await new Promise((done) => setTimeout(done, 20));
    if (picture() !== before) return true;
  }
  return false;
}
"""


def dead_inputs(page: Page) -> list[str]:
    """Sliders and selectors that change nothing in their chart, whatever they are set to."""
    dead = []
    for handle in page.query_selector_all(_INPUTS):
        if not any(page.evaluate(_TRY, [handle, attempt]) for attempt in range(3)):
            dead.append(handle.evaluate("(i) => `${i.type} ${i.name || i.id}: ` + i.closest('.chart, .vega-embed').id"))
    return dead


def input_values(page: Page) -> list[str]:
    """What every slider and selector is set to."""
    return page.evaluate(
        f"""() => [...document.querySelectorAll('{_INPUTS}')].map((i) =>
          i.type === 'radio' || i.type === 'checkbox' ? String(i.checked) : i.value)"""
    )


def set_theme(page: Page, theme: str) -> None:
    """Press the theme button, as a reader would, until the page is light or dark."""
    for _ in range(4):
        # `auto` resolves to a theme too: the mode is what the button says
        mode = page.evaluate("() => document.documentElement.dataset.mode")
        if mode == theme:
            return
        page.evaluate("() => document.querySelector('.theme-switch-button').click()")
    raise AssertionError(f"the theme button never reaches {theme}")


def faint_chart_text(page: Page, least: float = 4.5) -> list[str]:
    """Axis, legend and title words with too little contrast against the page."""
    return page.evaluate(
        """(least) => {
          const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
          const rgb = (colour) => {
            canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
            return [...canvas.getImageData(0, 0, 1, 1).data];
          };
          const light = ([r, g, b]) => {
            const [R, G, B] = [r, g, b].map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
            return 0.2126 * R + 0.7152 * G + 0.0722 * B;
          };
          const behind = (e) => {
            for (; e; e = e.parentElement) {
              const colour = rgb(getComputedStyle(e).backgroundColor);
              if (colour[3] > 250) return colour;
            }
            return [255, 255, 255, 255];
          };
          const guides = '.role-axis text, .role-legend text, .role-title text, .role-column-header text, .role-row-header text';
          const faults = [];
          for (const svg of document.querySelectorAll('.chart svg.marks')) {
            const ground = light(behind(svg));
            for (const text of svg.querySelectorAll(guides)) {
              if (!text.textContent.trim()) continue;
              const ink = light(rgb(getComputedStyle(text).fill));
              const ratio = (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05);
              if (ratio < least) { faults.push(`${text.textContent}: ${ratio.toFixed(2)}`); break; }
            }
          }
          return faults;
        }""",
        least,
    )


def opaque_charts(page: Page) -> list[str]:
    """Charts that bring a light panel of their own into a dark page."""
    return page.evaluate(
        """() => [...document.querySelectorAll('.chart')].filter((c) => {
          for (let e = c; e && e.tagName !== 'ARTICLE'; e = e.parentElement) {
            const [r, g, b, a = 1] = getComputedStyle(e).backgroundColor.match(/[\\d.]+/g).map(Number);
            if (a > 0.5 && r + g + b > 500) return true;
          }
          return false;
        }).map((c) => c.id)"""
    )
