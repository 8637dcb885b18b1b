"""Where recorded runs stand: the figures that take too long for a page (`results/`)."""

from pathlib import Path


def records_folder(package: Path) -> Path:
    """Return where the records of this installation are.

    A wheel carries them inside the package (`setup.py` puts them there); in a clone they stand at
    the top of the repository, two folders above it.
    """
    carried = package / "results"
    return carried if carried.is_dir() else package.parents[1] / "results"


FOLDER = records_folder(Path(__file__).resolve().parents[1])
