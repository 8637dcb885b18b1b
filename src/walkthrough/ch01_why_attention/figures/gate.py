"""A gate, and the cell of an LSTM that three of them guard (Hochreiter and Schmidhuber, 1997)."""

from walkthrough.drawing.style import OUTPUT, QUERY, VALUE, WEIGHT
from walkthrough.drawing.svg import Drawing, arrow, box_at, drawing, words_at

WIDTH, HEIGHT = 343, 200
_CELL, _GATES, _INPUT = 42, 108, 176  # heights: the cell's line, the boxes, what they read
_FORGET, _INPUT_GATE, _NEW, _OUTPUT_GATE = 62, 132, 202, 288


def lstm_cell(
    *,
    title: str = "An LSTM carries a cell along; three gates say what is kept, added and shown",
    description: str = (
        "A line runs from the cell of the word before to the new cell. On its way it is multiplied "
        "by the forget gate; then the input gate times the new numbers is added. The state is the "
        "tanh of the cell times the output gate. All gates and the new numbers read the state "
        "before and the word."
    ),
    reads: str = "all four read the state before and the word",
) -> Drawing:
    """Return the way of the cell through one step."""
    label = "lstm"
    add = (_INPUT_GATE + _NEW) / 2
    way = (
        arrow(f"M4 {_CELL}H{_FORGET - 11}", label, 2.5)
        + arrow(f"M{_FORGET + 11} {_CELL}H{add - 11:g}", label, 2.5)
        + arrow(f"M{add + 11:g} {_CELL}H340", label, 2.5)
        + words_at(2, _CELL - 18, "cell before", "start")
        + words_at(341, _CELL - 18, "cell now", "end")
    )
    boxes = (
        _box(_FORGET, "forget f", WEIGHT)
        + _box(_INPUT_GATE, "input i", WEIGHT)
        + _box(_NEW, "new", VALUE)
        + _box(_OUTPUT_GATE, "output o", WEIGHT)
    )
    joins = (
        arrow(f"M{_FORGET} {_GATES - 15}V{_CELL + 12}", label)
        + arrow(f"M{_INPUT_GATE} {_GATES - 15}V76H{add - 7:g}V76", label)
        + arrow(f"M{_NEW} {_GATES - 15}V76H{add + 8:g}", label)
        + arrow(f"M{add:g} 68V{_CELL + 12}", label)
        + arrow(f"M{_OUTPUT_GATE} {_GATES - 15}V86", label)
        + f'<path d="M{_OUTPUT_GATE} {_CELL}V60"/>'
        + words_at(_OUTPUT_GATE - 8, 57, "tanh", "end")
        + arrow(f"M{_OUTPUT_GATE + 10} 75H340", label, 2.0)
        + words_at(341, 68, "state", "end", QUERY)
    )
    circles = (
        _circle(_FORGET, _CELL, "×")
        + _circle(add, _CELL, "+")
        + _circle(add, 76, "×", 8)
        + _circle(_OUTPUT_GATE, 75, "×")
    )
    inputs = (
        "".join(
            arrow(f"M{x} {_INPUT - 14}V{_GATES + 15}", label)
            for x in (_FORGET, _INPUT_GATE, _NEW, _OUTPUT_GATE)
        )
        + f'<path d="M{_FORGET} {_INPUT - 14}H{_OUTPUT_GATE}"/>'
        + words_at((_FORGET + _OUTPUT_GATE) / 2, _INPUT + 4, reads)
    )
    return drawing(
        way + joins + boxes + inputs + circles,
        kind="translator",
        label=label,
        size=(WIDTH, HEIGHT),
        width=420,
        title=title,
        description=description,
    )


def _box(x: int, words: str, colour: str) -> str:
    return box_at(x - 31, _GATES - 15, 62, 30, colour) + words_at(x, _GATES + 4, words)


def _circle(x: float | int, y: float | int, sign: str, radius: int = 11) -> str:
    return f'<circle cx="{x:g}" cy="{y:g}" r="{radius}" fill="{OUTPUT}" stroke="none"/>' + words_at(
        x, y + 4.5, sign, ink="#ffffff"
    )
