"""Two recurrent translators, drawn: all through one vector, or with attention (§1, §2)."""

from collections.abc import Sequence
from itertools import pairwise

from walkthrough.drawing.style import KEY, OUTPUT, QUERY, WEIGHT
from walkthrough.drawing.svg import Drawing, arrow, box_at, drawing, words_at

WIDTH, HEIGHT = 360, 216
_TOP, _BOTTOM, _MIDDLE = 30, 160, 112  # upper edges of the two rows, and the way between them
_BOX_HEIGHT, _GAP = 26, 14
_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def encoder_decoder(
    source: Sequence[str],
    target: Sequence[str],
    *,
    weights: Sequence[float] | None = None,
    title: str | None = None,
    description: str | None = None,
) -> Drawing:
    """Return a recurrent translator; `weights` are those of its first look back at the source.

    Without weights, all that passes from the encoder to the decoder is the last state.

    Raises:
        ValueError: there is not one weight a source word.
    """
    if weights is not None and len(weights) != len(source):
        raise ValueError(f"one weight a word: got {len(weights)} for {len(source)} words")
    kind = "one-vector" if weights is None else "attention"
    label = f"translator-{kind}"
    below, above = _middles(len(source)), _middles(len(target))
    body = _row("h", below, _BOTTOM, len(source), label) + _row(
        "s", above, _TOP, len(target), label
    )
    body += "".join(words_at(x, _BOTTOM + 44, word) for x, word in zip(below, source, strict=True))
    body += "".join(words_at(x, _TOP - 12, word) for x, word in zip(above, target, strict=True))
    body += (
        _one_vector(below, above, label)
        if weights is None
        else _looks(below, above[0], weights, label)
    )
    return drawing(
        body,
        kind="translator",
        label=label,
        size=(WIDTH, HEIGHT),
        width=520,
        title=title or _TITLES[kind],
        description=description or _in_words(source, target, weights),
    )


_TITLES = {
    "one-vector": "2014: the whole sentence passes through one vector",
    "attention": "2015: for each word the decoder looks back at all states",
}


def _middles(n: int) -> list[float]:
    width = WIDTH / n
    return [width * (place + 0.5) for place in range(n)]


def _row(letter: str, middles: Sequence[float], top: int, n: int, label: str) -> str:
    half = (WIDTH / n - _GAP) / 2
    colour = KEY if letter == "h" else QUERY
    y = top + _BOX_HEIGHT / 2
    drawn = "".join(
        box_at(x - half, top, 2 * half, _BOX_HEIGHT, colour)
        + words_at(x, y + 4, letter + str(place).translate(_SUBSCRIPTS))
        for place, x in enumerate(middles, start=1)
    )
    pairs = pairwise(middles)
    return drawn + "".join(arrow(f"M{a + half:g} {y:g}H{b - half:g}", label) for a, b in pairs)


def _one_vector(below: Sequence[float], above: Sequence[float], label: str) -> str:
    path = f"M{below[-1]:g} {_BOTTOM}V{_MIDDLE}H{above[0]:g}V{_TOP + _BOX_HEIGHT}"
    words = words_at(WIDTH / 2, _MIDDLE - 8, "the last state, and nothing else")
    return arrow(path, label, 2.5) + words


def _looks(below: Sequence[float], writes: float, weights: Sequence[float], label: str) -> str:
    context = _TOP + _BOX_HEIGHT + 34
    lines = "".join(
        f'<path d="M{x:g} {_BOTTOM}L{writes:g} {context + 11:g}" stroke="{WEIGHT}" '
        f'stroke-width="{0.7 + 6 * weight:.2f}" stroke-opacity="0.8"/>'
        for x, weight in zip(below, weights, strict=True)
    )
    circle = (
        f'<circle cx="{writes:g}" cy="{context:g}" r="11" fill="{OUTPUT}" '
        f'stroke="none"/>' + words_at(writes, context + 4, "c₁", ink="#ffffff")
    )
    up = arrow(f"M{writes:g} {context - 11:g}V{_TOP + _BOX_HEIGHT}", label)
    words = words_at(writes + 18, context - 4, "context: all states, by weight", "start")
    return lines + circle + up + words


def _in_words(source: Sequence[str], target: Sequence[str], weights: Sequence[float] | None) -> str:
    rows = (
        f"Below, the states of the encoder, one for each of the source words {' '.join(source)}, "
        f"each with an arrow to the next. Above, the states of the decoder, which writes "
        f"{' '.join(target)}. "
    )
    if weights is None:
        return rows + "One arrow leads from the last encoder state to the first decoder state."
    shares = ", ".join(f"{word} {weight:.2f}" for word, weight in zip(source, weights, strict=True))
    return rows + (
        "Lines lead from every encoder state to the context of the first decoder state; their "
        f"widths are the weights: {shares}."
    )
