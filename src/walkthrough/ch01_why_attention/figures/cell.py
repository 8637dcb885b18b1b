"""One step of an LSTM, drawn: the way of the cell and the gates beside it (§1)."""

from itertools import pairwise

from walkthrough.drawing.style import PALETTE
from walkthrough.drawing.svg import Drawing, arrow, box_at, drawing, words_at

WIDTH, HEIGHT = 400, 212
_CELL, _MEET, _GATES, _INPUT = 40, 98, 132, 196  # heights: cell, products, gates, what comes in
_HALF, _TALL, _ROUND = 28, 26, 11
_PARTS = {"forget": (84, "fₜ"), "input": (160, "iₜ"), "new": (236, "gₜ"), "output": (312, "oₜ")}
_COLOURS = {"new": PALETTE["vermilion"]}  # the gates are shares, what comes in is not


def lstm_cell(
    *,
    title: str = "One step of an LSTM: along the cell, the old memory meets one gate",
    description: str | None = None,
) -> Drawing:
    """Return one step from cₜ₋₁ to cₜ and hₜ: three gates, and what would come in."""
    label = "lstm"
    return drawing(
        _cell_line(label) + _below(label) + "".join(map(_part, _PARTS)),
        kind="lstm",
        label=label,
        size=(WIDTH, HEIGHT),
        width=560,
        title=title,
        description=description or _in_words(),
    )


def _part(name: str) -> str:
    x, letter = _PARTS[name]
    colour = _COLOURS.get(name, PALETTE["green"])
    box = box_at(x - _HALF, _GATES, 2 * _HALF, _TALL, colour)
    return box + words_at(x, _GATES + 17, name) + words_at(x + 6, _GATES - 6, letter, "start")


def _sign(x: float | int, y: float | int, sign: str) -> str:
    circle = f'<circle cx="{x}" cy="{y}" r="{_ROUND}" fill="{PALETTE["blue"]}" stroke="none"/>'
    return circle + words_at(x, y + 4, sign, ink="#ffffff")


def _cell_line(label: str) -> str:
    """The upper way: old cell, times the forget gate, plus what comes in, new cell."""
    forget, comes = _PARTS["forget"][0], (_PARTS["input"][0] + _PARTS["new"][0]) / 2
    stops = (30, forget, comes, WIDTH - 24)
    line = "".join(
        arrow(
            f"M{a + (_ROUND if n else 0):g} {_CELL}H{b - (_ROUND + 1 if n < 2 else 0):g}",
            label,
            2.0,
        )
        for n, (a, b) in enumerate(pairwise(stops))
    )
    names = words_at(18, _CELL + 4, "cₜ₋₁") + words_at(WIDTH - 12, _CELL + 4, "cₜ")
    return line + names + _sign(forget, _CELL, "×") + _sign(comes, _CELL, "+")


def _below(label: str) -> str:
    """What the gates do, and the state that leaves below."""
    forget, taken, new, output = (x for x, _ in _PARTS.values())
    comes, shown = (taken + new) / 2, 354
    paths = [
        f"M{forget} {_GATES}V{_CELL + _ROUND + 1}",
        f"M{taken} {_GATES}V{_MEET}H{comes - _ROUND - 1:g}",
        f"M{new} {_GATES}V{_MEET}H{comes + _ROUND + 1:g}",
        f"M{comes:g} {_MEET - _ROUND}V{_CELL + _ROUND + 1}",
        f"M{output} {_GATES}V{_MEET}H{shown - _ROUND - 1}",
        f"M{shown} {_CELL}V{_MEET - _ROUND - 1}",
        f"M{shown} {_MEET + _ROUND}V{_INPUT - 14}",
        *(f"M{x} {_INPUT - 14}V{_GATES + _TALL + 1}" for x in (forget, taken, new, output)),
    ]
    drawn = "".join(arrow(path, label) for path in paths)
    drawn += f'<path d="M{forget} {_INPUT - 14}H{output}" stroke="currentColor" fill="none"/>'
    words = words_at((taken + new) / 2, _INPUT + 4, "the word xₜ and the state hₜ₋₁")
    words += words_at(shown, _INPUT + 4, "hₜ") + words_at(shown - 5, 68, "tanh", "end")
    return drawn + words + _sign(comes, _MEET, "×") + _sign(shown, _MEET, "×")


def _in_words() -> str:
    return (
        "An arrow leads from the old cell to the new one. On its way it is multiplied by the "
        "forget gate, then the product of the input gate and of what is new is added. Below, the "
        "word and the old state feed all four. The new state is tanh of the new cell, multiplied "
        "by the output gate."
    )
