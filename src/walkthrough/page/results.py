"""Recorded runs: the figures that take too long for a page (`results/` of the repository)."""

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[3] / "results"


def recorded(name: str, *, folder: Path = FOLDER) -> dict[str, Any]:
    """Return the record `results/<name>.json`.

    Raises:
        FileNotFoundError: there is none, or the package was installed without the repository.
    """
    path = folder / f"{name}.json"
    if not path.is_file():
        found = sorted(other.stem for other in folder.glob("*.json"))
        raise FileNotFoundError(
            f"no record {path}; recorded are {', '.join(found) or 'none'}. Records are part of the "
            "repository, not of the installed package: run from a clone (pip install -e .)"
        )
    record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return record
