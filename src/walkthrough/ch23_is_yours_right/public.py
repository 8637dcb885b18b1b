"""What the doctor saw in public implementations: a record, made outside the book's build.

`python -m tools.verify.others FOLDER --record results/public-implementations.json` makes it.
"""

import json
from pathlib import Path
from typing import Any

from walkthrough.page.results import FOLDER

RECORD = FOLDER / "public-implementations.json"
DETAILS = (
    "future",
    "padding",
    "batch",
    "heads",
    "positions",
    "one layer",
    "no gradient",
    "first loss",
    "norm's place",
    "norm",
    "√d_model",
    "scale",
    "ties",
    "dropout",
)
"""The columns of the picture, as the doctor names them."""


def implementations(path: Path = RECORD) -> list[dict[str, Any]]:
    """Return a row a repository: `repository`, `commit`, names as `bugs`, `departures`, `same`."""
    rows: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["rows"]
    return sorted(rows, key=lambda row: row["repository"].lower())
