"""Put sentences together."""

from collections.abc import Sequence


def joined(said: str, *besides: str | None) -> str:
    """Return a sentence followed by what else is to be told; nothing for None."""
    for more in filter(None, besides):
        end = "" if said.endswith((".", "!", "?", "…")) else "."
        said = f"{said}{end} Besides, {more}"
    return said


def listed(words: Sequence[str]) -> str:
    """Return "a, b and c"."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"
