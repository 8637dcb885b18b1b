"""Load the translator of chapter 21 in Chromium, translate a sentence, and print the seconds.

    python -m tools.verify.measure_live [--rounds 5] [--slower 1 4] [--page 21-….html]

Without a page, it is one that holds the translator alone, for which tools.site.live must have
run. Each round opens the page anew at each slowness (Chromium's CPU throttling: it slows the page's
main thread and not the threads that compile WebAssembly), and takes the time from the click to the
ready translator and from the click to the picture of the last token. Beside the time on the clock
stands the processor time of that thread, which a busy machine does not lengthen; at a slowness of
4 it holds the time that the throttling burns. What is printed is the median, and of the clock also
the fastest round, which is what an idle machine takes.
"""

import argparse
import shutil
import statistics
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, CDPSession, Page, sync_playwright

WEB = Path(__file__).resolve().parents[2] / "book" / "web"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SENTENCE = "Paul achète un chapeau cher mais ne le porte pas."
TRANSLATION = "Paul buys an expensive hat but does not wear it."
SEARCHES = {"greedy": "1", "beam of 4": "4"}
PAGE = """<!doctype html><html lang="en" data-theme="light"><head><meta charset="utf-8">
<title>Translator</title><meta name="viewport" content="width=device-width">
<link rel="icon" href="favicon.svg"><link rel="stylesheet" href="book.css">
<script src="live/start.js"></script></head><body><main class="bd-article"><h1>Translator</h1>
<h2>In this page</h2><h3>Live</h3><div class="live-translator">…</div></main></body></html>"""

# Resolves when `until` holds and what it changed has been painted.
TIMED = """([press, until]) => new Promise((resolve) => {
  const place = document.querySelector(".live-translator"), began = performance.now();
  const painted = () =>
    requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - began)));
  const watch = new MutationObserver(() => {
    if (place.matches(until)) { watch.disconnect(); painted(); }
  });
  watch.observe(place, { attributes: true });
  place.querySelector(press).click();
})"""


def write_page(folder: Path) -> Path:
    """Make a page in `folder` that holds the translator and nothing else; return its path.

    Raises:
        FileNotFoundError: tools.site.live has not run.
    """
    for name in ("live", "vendor/live", "vendor/onnxruntime-web"):
        shutil.copytree(WEB / name, folder / name)
    for name in ("book.css", "favicon.svg"):
        shutil.copyfile(WEB / name, folder / name)
    page = folder / "index.html"
    page.write_text(PAGE, encoding="utf-8")
    return page


class Stopwatch:
    """Seconds on the clock and of the page's main thread."""

    def __init__(self, page: Page, session: CDPSession) -> None:
        self.page, self.session = page, session
        session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def _busy(self) -> float:
        metrics = self.session.send("Performance.getMetrics")["metrics"]
        return next(one["value"] for one in metrics if one["name"] == "TaskDuration")

    def press(self, button: str, until: str) -> tuple[float, float]:
        """Press, and return clock and processor seconds until that selector fits."""
        before = self._busy()
        clock: float = self.page.evaluate(TIMED, [button, until])
        return clock / 1000, self._busy() - before


def one_round(browser: Browser, address: str, slower: float) -> dict[str, tuple[float, float]]:
    """Open the page, load the translator, and translate with each search, twice."""
    context = browser.new_context()
    page = context.new_page()
    session = context.new_cdp_session(page)
    page.goto(address)
    page.wait_for_selector("[data-state=offered]")
    session.send("Emulation.setCPUThrottlingRate", {"rate": slower})
    watch = Stopwatch(page, session)
    found = {"ready": watch.press(".live-go", "[data-state=ready]")}
    page.fill("#live-source", SENTENCE)
    for name, value in SEARCHES.items():
        # not by the form's change event, which would translate at once
        page.eval_on_selector("select[name=method]", "(field, value) => field.value = value", value)
        for time in ("first", "again"):
            found[f"{name}, {time}"] = watch.press(".live-go", "[data-translation]")
            said = page.get_attribute(".live-translator", "data-translation")
            if said != TRANSLATION:
                raise SystemExit(f"expected “{TRANSLATION}”, the page says “{said}”")
    context.close()
    return found


def measure(rounds: int, slownesses: list[float], page: Path | None) -> dict[float, dict[str, Any]]:
    """Return (clock, processor) seconds of every round, by slowness and by what was done."""
    executable = next(filter(None, map(shutil.which, BROWSERS)), None)
    if executable is None:
        sys.exit(f"no browser found (looked for {', '.join(BROWSERS)})")
    found: dict[float, dict[str, Any]] = {one: defaultdict(list) for one in slownesses}
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        address = (page.resolve() if page else write_page(Path(folder))).as_uri()
        arguments = ["--no-sandbox", "--disable-gpu"]
        browser = playwright.chromium.launch(executable_path=executable, args=arguments)
        for _ in range(rounds):  # by turns, so that a busy minute does not fall on one alone
            for slower in slownesses:
                for name, times in one_round(browser, address, slower).items():
                    found[slower][name].append(times)
        browser.close()
    return found


def main() -> None:
    """Measure and print a line for each thing done."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--slower", type=float, nargs="+", default=[1, 4])
    parser.add_argument("--page", type=Path)
    args = parser.parse_args()
    print(f"{args.rounds} rounds: {'clock':>23}{'fastest':>10}{'processor':>12}")
    for slower, done in measure(args.rounds, args.slower, args.page).items():
        for name, times in done.items():
            clocks, processor = zip(*times, strict=True)
            clock, busy = statistics.median(clocks), statistics.median(processor)
            label = f"{name} ({slower:g}×)"
            print(f"{label:<24}{clock:>7.2f} s{min(clocks):>8.2f} s{busy:>10.2f} s")


if __name__ == "__main__":
    main()
