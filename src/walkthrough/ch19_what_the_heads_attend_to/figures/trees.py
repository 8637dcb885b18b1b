"""Spans of a sentence as brackets."""

from collections.abc import Collection, Sequence


def bracketed(words: Sequence[str], spans: Collection[tuple[int, int]]) -> str:
    """Return the words with a bracket around each span, as in `(a car) (in Italy)`."""
    opened = {place: sum(start == place for start, _ in spans) for place in range(len(words))}
    closed = {place: sum(end == place + 1 for _, end in spans) for place in range(len(words))}
    return " ".join(
        "(" * opened[place] + word + ")" * closed[place] for place, word in enumerate(words)
    )
