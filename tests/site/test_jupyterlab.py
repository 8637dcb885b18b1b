"""What JupyterLab shows of a chapter has no markup in it that only the site understands.

Three chapters; with EVERY_CHAPTER=1 in the environment all of them, at half a minute each.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.request import urlopen

import pytest
from playwright.sync_api import Page

pytestmark = pytest.mark.site

BOOK = Path(__file__).resolve().parents[2] / "book"
THREE = ["00-one-sentence", "05-feed-forward", "21-translate-in-your-browser"]
EVERY = sorted(path.stem for path in BOOK.glob("*.ipynb"))
CHAPTERS = EVERY if os.environ.get("EVERY_CHAPTER") else THREE
SETTINGS = {
    # Every cell is drawn, also where nobody has scrolled yet; and nothing is executed.
    "notebook-extension/tracker": {"windowingMode": "none", "autoStartDefaultKernel": False},
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
}
PATIENCE = 300  # seconds

# Formats, spans, fences, and the key of a citation, beside which an error sign stands.
RAW = """() => {
    const raw = /:\\.\\d[f%]|⚠|[{}]|:::|\\b(?!newstest)[a-z]{2,}(?:19|20)\\d\\d\\b/;
    const other = "code, pre, .katex, script, style, .cm-editor, .jp-Toolbar";
    const found = [];
    for (const cell of document.querySelectorAll(".jp-MarkdownCell")) {
        const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
        while (walker.nextNode()) {
            const { parentElement: parent, data } = walker.currentNode;
            if (raw.test(data) && !parent.closest(other)) found.push(data.trim().slice(0, 120));
        }
    }
    return found;
}"""
SHOWN = """(many) => {
    const cells = [...document.querySelectorAll(".jp-MarkdownCell.jp-mod-rendered")];
    return cells.length === many && cells.every((cell) => cell.innerText.trim());
}"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """JupyterLab over a copy of the notebooks; its address."""
    root = tmp_path_factory.mktemp("lab")
    for path in BOOK.glob("*.ipynb"):
        (root / path.name).write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    wrong = {"cell_type": "markdown", "id": "a", "metadata": {}}
    wrong["source"] = "Ends at {glue:text}`loss:.3f`, as {cite}`ba2016` says in [red]{.red}."
    page = {"cells": [wrong], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (root / "wrong.ipynb").write_text(json.dumps(page), encoding="utf-8")
    for name, values in SETTINGS.items():
        plugin = root / "settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        plugin.parent.mkdir(parents=True, exist_ok=True)
        plugin.write_text(json.dumps(values), encoding="utf-8")
    words = ["-m", "jupyterlab", "--no-browser", "--allow-root", "--ServerApp.port=0"]
    words += ["--IdentityProvider.token=", f"--ServerApp.root_dir={root}"]
    folders = {name: str(root / name) for name in ("settings", "workspaces", "runtime")}
    places = {f"JUPYTERLAB_{name.upper()}_DIR": folder for name, folder in folders.items()}
    places["JUPYTER_RUNTIME_DIR"] = folders["runtime"]
    with (
        (root / "log").open("w") as log,
        subprocess.Popen(
            [sys.executable, *words], env=os.environ | places, stdout=log, stderr=log
        ) as server,
    ):
        try:
            yield _address(root, server)
        finally:
            server.terminate()
            try:
                server.wait(20)
            except subprocess.TimeoutExpired:  # a thread of the server's own may never end
                server.kill()


def _address(root: Path, server: "subprocess.Popen[bytes]") -> str:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and server.poll() is None:
        for path in (root / "runtime").glob("jpserver-*.json"):
            url: str = json.loads(path.read_text())["url"]
            with suppress(OSError):  # the file is there before anybody listens
                urlopen(f"{url}api/status").close()
                return url
        time.sleep(0.2)
    raise AssertionError((root / "log").read_text())


def raw_text(page: Page, lab: str, name: str, cells: int) -> list[str]:
    """What stands in a notebook's prose that a reader should not see."""
    page.goto(f"{lab}lab/workspaces/{name}/tree/{name}.ipynb")  # no other one is open there
    page.wait_for_function(SHOWN, arg=cells, timeout=1000 * PATIENCE)
    return page.evaluate(RAW)


@pytest.mark.parametrize("name", CHAPTERS)
def test_prose_is_rendered(page: Page, lab: str, name: str) -> None:
    cells = json.loads((BOOK / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
    many = sum(cell["cell_type"] == "markdown" for cell in cells)
    assert raw_text(page, lab, name, many) == []


def test_what_only_the_site_understands_is_noticed(page: Page, lab: str) -> None:
    found = " ".join(raw_text(page, lab, "wrong", 1))
    assert "loss:.3f" in found
    assert "ba2016" in found
    assert "{.red}" in found
