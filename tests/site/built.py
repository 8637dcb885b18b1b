"""Where the built site is, which pages it has, and a server for it."""

import os
import threading
import tomllib
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from browsing import ROOT

SITE = Path(os.environ.get("SITE_ROOT", ROOT)).resolve() / "_build" / "html"
SCREENSHOTS = SITE.parent / "screenshots"
CLAIMS = tomllib.loads((ROOT / "book" / "claims.toml").read_text(encoding="utf-8"))["claims"]
TESTED = [claim for claim in CLAIMS if "reason" not in claim]
NOT_PAGES = ("index.html", "_static/", "_sources/")  # the first only leads to book/index.html


def site_pages() -> list[str]:
    """Every page of the built site, as a path inside it."""
    found = (path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html"))
    return sorted(p for p in found if not p.startswith(NOT_PAGES))


def chapters() -> list[str]:
    """The pages that are written, without the generated index and search."""
    return [page for page in site_pages() if page.startswith("book/")]


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves files and keeps the test's output for the test."""

    def log_message(self, format: str, *args: object) -> None:
        pass


def serve(folder: Path) -> Iterator[str]:
    """Serve a folder on a free local port for as long as the generator is open."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=folder)) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()
