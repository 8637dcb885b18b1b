"""Firefox and WebKit, driven with what the system brings: no driver, no package of their own.

Firefox speaks WebDriver BiDi over a socket; WebKitGTK brings WebKitWebDriver, which is asked over
http, and its small browser, which needs a display and so runs under Xvfb.
"""

import base64
import io
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import websocket
from PIL import Image

PATIENCE = 90  # seconds; two busy cores
FIREFOX = ("firefox-esr", "firefox")
WEBKIT = ("WebKitWebDriver", "Xvfb")
LIBRARIES = Path("/usr/lib")
LOADED = """() => new Promise((loaded) => {
  if (document.readyState === "complete") loaded();
  else addEventListener("load", () => loaded());
})"""
# As a reader has it, where files are sites of their own, but for what it would do by itself.
SETTINGS = """\
user_pref("remote.prefs.recommended", false);
user_pref("app.normandy.enabled", false);
user_pref("app.update.disabledForTesting", true);
user_pref("browser.aboutwelcome.enabled", false);
user_pref("browser.startup.page", 0);
user_pref("browser.safebrowsing.update.enabled", false);
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("extensions.update.enabled", false);
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
user_pref("services.settings.server", "data:,");
user_pref("ui.prefersReducedMotion", 1);
user_pref("ui.useOverlayScrollbars", 1);
"""
# Its bar has buttons, and no window is narrower than they are.
NARROW = "* { min-width: 0; padding: 0; margin: 0; border: 0; font-size: 1px }"


class Engine(Protocol):
    """A browser with one page."""

    def resize(self, width: int, height: int) -> None:
        """Give the page a width and a height in px."""

    def open(self, address: str) -> None:
        """Open a page, and wait until it is loaded."""

    def ask(self, function: str, *given: Any) -> Any:
        """What a function of the page returns, or promises."""

    def picture(self) -> Image.Image:
        """What is seen of the page."""

    def complaints(self) -> list[str]:
        """What the browser has said against the page, as far as it says so."""


def missing(names: tuple[str, ...], needed: Callable[[Iterator[str | None]], bool] = any) -> str:
    """A line that says which programs are not there; empty when they are."""
    there = needed(shutil.which(name) for name in names)
    return "" if there else f"{' and '.join(names)} not found: the site was not looked at there"


@contextmanager
def running(words: list[str], **settings: Any) -> Iterator[subprocess.Popen[str]]:
    """Run a program, and end it with all that it started."""
    with subprocess.Popen(words, text=True, start_new_session=True, **settings) as process:
        try:
            yield process
        finally:
            os.killpg(process.pid, signal.SIGTERM)


class Firefox:
    """One tab of Firefox."""

    def __init__(self, address: str) -> None:
        self.socket = websocket.create_connection(
            f"{address}/session", suppress_origin=True, timeout=PATIENCE
        )
        self.numbers = itertools.count(1)
        self.said: list[str] = []
        self.send("session.new", capabilities={})
        self.send("session.subscribe", events=["log.entryAdded"])
        self.tab = self.send("browsingContext.getTree")["contexts"][0]["context"]

    def send(self, method: str, **given: Any) -> Any:
        """What it answers to a command.

        Raises:
            RuntimeError: it refuses.
        """
        number = next(self.numbers)
        self.socket.send(json.dumps({"id": number, "method": method, "params": given}))
        while (answer := json.loads(self.socket.recv())).get("id") != number:
            self.hear(answer["params"])
        if "result" not in answer:
            raise RuntimeError(f"{method}: {answer['message']}")
        return answer["result"]

    def hear(self, entry: dict[str, Any]) -> None:
        """Keep what the browser complains about; what scripts write to the console is theirs."""
        ours = entry.get("source", {}).get("context") == self.tab
        if ours and (entry["type"] == "javascript" or entry["level"] == "error"):
            self.said.append(f"{entry['level']}: {entry['text']}")

    def complaints(self) -> list[str]:
        said, self.said = self.said, []
        return said

    def resize(self, width: int, height: int) -> None:
        size = {"width": width, "height": height}
        self.send("browsingContext.setViewport", context=self.tab, viewport=size)

    def open(self, address: str) -> None:
        self.send("browsingContext.navigate", context=self.tab, url=address, wait="complete")
        self.ask(LOADED)  # a file may be said to be complete before its scripts have run

    def ask(self, function: str, *given: Any) -> Any:
        words = ", ".join(json.dumps(one) for one in given)
        answer = self.send(
            "script.evaluate",
            expression=f"(async () => JSON.stringify([await ({function})({words})]))()",
            target={"context": self.tab},
            awaitPromise=True,
        )
        if "result" not in answer:
            raise RuntimeError(answer["exceptionDetails"]["text"])
        return json.loads(answer["result"]["value"])[0]

    def picture(self) -> Image.Image:
        data = self.send("browsingContext.captureScreenshot", context=self.tab)["data"]
        return Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB")


@contextmanager
def firefox(settings: str = "") -> Iterator[Firefox]:
    """Start Firefox with nothing remembered."""
    name = next(filter(None, map(shutil.which, FIREFOX)))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        (Path(profile) / "user.js").write_text(SETTINGS + settings, encoding="utf-8")
        words = [name, "--headless", "--no-remote", "--profile", profile]
        words.append("--remote-debugging-port=0")
        with running(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
            for line in process.stderr or ():
                if found := re.search(r"BiDi listening on (ws://\S+)", line):
                    page = Firefox(found[1])
                    yield page
                    page.socket.close()
                    return
            raise RuntimeError("Firefox ended before it listened")


class WebKit:
    """The small browser of WebKitGTK."""

    def __init__(self, address: str, browser: str) -> None:
        self.session = f"{address}/session"
        options = {"binary": browser, "args": ["--automation"]}
        wanted = {"alwaysMatch": {"webkitgtk:browserOptions": options}}
        self.session += "/" + self.send("", capabilities=wanted)["sessionId"]
        self.send("/timeouts", script=1000 * PATIENCE, pageLoad=1000 * PATIENCE)

    def send(self, command: str, **given: Any) -> Any:
        """What it answers to a command; refusals are raised as `urllib` has them."""
        request = urllib.request.Request(
            self.session + command,
            data=json.dumps(given).encode() if command != "/screenshot" else None,
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return json.load(answer)["value"]

    def resize(self, width: int, height: int) -> None:
        """The page's own size: a toolbar and a frame stand around it."""
        for _ in range(2):
            here = self.ask("() => [outerWidth - innerWidth, outerHeight - innerHeight]")
            self.send("/window/rect", x=0, y=0, width=width + here[0], height=height + here[1])

    def open(self, address: str) -> None:
        self.send("/url", url=address)

    def ask(self, function: str, *given: Any) -> Any:
        script = f"return (async () => [await ({function})(...arguments)])()"
        script = f"const given = arguments; {script.replace('arguments', 'given')}"
        return self.send("/execute/sync", script=script, args=list(given))[0]

    def picture(self) -> Image.Image:
        return Image.open(io.BytesIO(base64.b64decode(self.send("/screenshot")))).convert("RGB")

    def complaints(self) -> list[str]:
        return []  # its driver hears nothing


@contextmanager
def webkit() -> Iterator[WebKit]:
    """Start WebKitGTK's browser on a display of its own."""
    browser = next(iter(sorted(LIBRARIES.glob("*/webkit2gtk-4.*/MiniBrowser"))))
    read, write = os.pipe()
    screen = ["Xvfb", "-displayfd", str(write), "-screen", "0", "1600x1400x24", "-nolisten", "tcp"]
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with (
        running(screen, pass_fds=[write], **silent),
        open(read, encoding="ascii") as told,
        tempfile.TemporaryDirectory() as home,
    ):
        style = Path(home) / "gtk-3.0" / "gtk.css"
        style.parent.mkdir()
        style.write_text(NARROW, encoding="utf-8")
        display = told.readline().strip()
        port = 20_000 + os.getpid() % 20_000
        settings = {**os.environ, "DISPLAY": f":{display}", "XDG_CONFIG_HOME": home}
        driver = ["WebKitWebDriver", f"--port={port}"]
        with running(driver, env=settings, **silent):
            address = f"http://127.0.0.1:{port}"
            for _ in range(100):
                try:
                    urllib.request.urlopen(f"{address}/status", timeout=5).close()
                    break
                except OSError:
                    time.sleep(0.1)
            page = WebKit(address, str(browser))
            yield page
