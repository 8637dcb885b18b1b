"""The one place that knows where this book's repository is."""

import json
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
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
    ours = inside.parts[0] in {"transformer", "phrasebook", "walkthrough"}
    return str(Path("src") / inside) if ours else None


def source_url(path: str, first_line: int, last_line: int) -> str:
    """Return the address of these lines of a repository file."""
    return f"{REPOSITORY_URL}/blob/{installed_revision()}/{path}#L{first_line}-L{last_line}"


@cache
def installed_revision() -> str:
    """Return the commit that pip installed from git, so that lines stay right; else the branch."""
    try:
        origin = distribution("transformer-walkthrough").read_text("direct_url.json")
    except PackageNotFoundError:
        return BRANCH
    return _commit_of(origin) or BRANCH


def _commit_of(origin: str | None) -> str | None:
    """The commit that an installation's `direct_url.json` names; None when it is not from git."""
    repository = json.loads(origin or "{}").get("vcs_info", {})
    commit: str | None = repository.get("commit_id")
    return commit
