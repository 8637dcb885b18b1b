"""The one place that knows where this book's repository is."""

from pathlib import Path

REPOSITORY_URL = "https://github.com/transformer-walkthrough/transformer-walkthrough"
BRANCH = "main"

_SOURCE_FOLDER = Path(__file__).resolve().parents[2]


def repository_path(file: str | Path) -> str | None:
    """Return the file's path inside the repository, or None for a file that is not part of it."""
    path = Path(file).resolve()
    if not path.is_relative_to(_SOURCE_FOLDER):
        return None
    inside = path.relative_to(_SOURCE_FOLDER)
    ours = inside.parts[0] in {"transformer", "walkthrough"}
    return str(Path("src") / inside) if ours else None


def source_url(path: str, first_line: int, last_line: int) -> str:
    """Return the address of these lines of a repository file."""
    return f"{REPOSITORY_URL}/blob/{BRANCH}/{path}#L{first_line}-L{last_line}"
