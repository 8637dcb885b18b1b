"""Put sentences together."""

from collections.abc import Sequence


def joined(sentence: str, *besides: str | None) -> str:
    """Return a sentence followed by what else is to be told; nothing for None."""
    for more in filter(None, besides):
        end = "" if sentence.endswith((".", "!", "?", "…")) else "."
        sentence = f"{sentence}{end} Besides, {more}"
    return sentence


def listed(words: Sequence[str]) -> str:
    """Return "a, b and c"."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"
