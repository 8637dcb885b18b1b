"""Recorded runs: the figures that take too long for a page (`results/` of the repository)."""

import json
from pathlib import Path
from typing import Any


def records_folder(package: Path) -> Path:
    """Return where the records of this installation are.

    A wheel carries them inside the package (`setup.py` puts them there); in a clone they stand at
    the top of the repository, two folders above it.
    """
    carried = package / "results"
    return carried if carried.is_dir() else package.parents[1] / "results"


FOLDER = records_folder(Path(__file__).resolve().parents[1])


def recorded(name: str, *, folder: Path = FOLDER) -> dict[str, Any]:
    """Return the record `results/<name>.json`.

    Raises:
        FileNotFoundError: there is none of that name.
    """
    path = folder / f"{name}.json"
    if not path.is_file():
        found = sorted(other.stem for other in folder.glob("*.json"))
        raise FileNotFoundError(
            f"no record {path}; recorded are {', '.join(found) or 'none'}. A clone (pip install "
            "-e .) and an installed wheel have them all"
        )
    record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return record
