"""The operation as a drawing, from below as in the paper's Figure 2, beside its code (§3.2.1)."""

from dataclasses import dataclass
from itertools import pairwise

from walkthrough.drawing.style import PALETTE, WEIGHT, ink
from walkthrough.drawing.svg import Drawing, arrow, box_at, drawing, words_at

WIDTH, HEIGHT = 360, 330
_BOX, _TALL = 104, 30
_LEFT, _CODE = 8, 146  # left edge of the boxes, and of the code


@dataclass(frozen=True)
class Stage:
    """One box: its words, its place from above, and the code that does it, a line each."""

    words: str
    y: int
    code: tuple[str, ...]
    colour: str = PALETTE["grey"]
    optional: bool = False


STAGES = (
    Stage("product", 244, ("scores = query @ key", "    .transpose(-2, -1)")),
    Stage("scale", 196, ("    * scale",)),
    Stage(
        "mask",
        148,
        ("scores.masked_fill(", '  ~attend_mask, float("-inf"))'),
        optional=True,
    ),
    Stage("softmax", 100, ("torch.softmax(scores, dim=-1)",), WEIGHT),
    Stage("product", 34, ("F.dropout(weights, dropout)", "    @ value")),
)


def data_flow(
    *,
    title: str = "Scaled dot-product attention, from below, beside its code",
    description: str | None = None,
) -> Drawing:
    """Return the operation as a drawing: Q, K and V enter below, the output leaves above."""
    label = "flow"
    return drawing(
        _arrows(label) + "".join(map(_draw, STAGES)) + _names(),
        kind="flow",
        label=label,
        size=(WIDTH, HEIGHT),
        width=480,
        title=title,
        description=description or _in_words(),
    )


def _draw(stage: Stage) -> str:
    middle = stage.y + _TALL / 2
    box = box_at(_LEFT, stage.y, _BOX, _TALL, stage.colour, dashed=stage.optional)
    name = f"{stage.words} (optional)" if stage.optional else stage.words
    first = middle + 4 - 7 * (len(stage.code) - 1)
    lines = "".join(_code_at(first + 14 * n, line) for n, line in enumerate(stage.code))
    return box + words_at(_LEFT + _BOX / 2, middle + 4, name) + lines


def _code_at(y: float, line: str) -> str:
    """Return a line of code; what it is indented by moves it to the right."""
    indent = len(line) - len(line.lstrip())
    words = words_at(_CODE + 6.6 * indent, y, line.strip(), "start")
    return words.replace("<text ", '<text font-family="monospace" font-size="11" ')


def _arrows(label: str) -> str:
    middle, value = _LEFT + _BOX / 2, _LEFT + _BOX + 16
    query, key = _LEFT + 24, _LEFT + _BOX - 24
    ups = [(middle, a.y, b.y + _TALL) for a, b in pairwise(STAGES)]
    ups += [(query, 302, STAGES[0].y + _TALL), (key, 302, STAGES[0].y + _TALL)]
    ups += [(middle, STAGES[-1].y, 20)]
    drawn = "".join(arrow(f"M{x:g} {start}V{end + 1}", label) for x, start, end in ups)
    last = STAGES[-1].y + _TALL / 2
    return drawn + arrow(f"M{value} 302V{last:g}H{_LEFT + _BOX + 1}", label)


def _names() -> str:
    places = {"query": _LEFT + 24, "key": _LEFT + _BOX - 24, "value": _LEFT + _BOX + 16}
    letters = "".join(words_at(x, 316, r[0].upper(), ink=ink(r)) for r, x in places.items())
    shapes = {"queries × d_k": 302, "keys × d_k, keys × d_v": 318}
    notes = "".join(words_at(_CODE, y, words, "start") for words, y in shapes.items())
    output = words_at(_LEFT + _BOX / 2, 13, "output", ink=ink("output"))
    return letters + notes + output + words_at(_CODE, 13, "queries × d_v", "start")


def _in_words() -> str:
    return (
        "Queries and keys enter from below and are multiplied: a matrix of scores, queries by "
        "keys. It is scaled, then an optional mask closes some scores, then softmax turns each "
        "row into weights. The weights are multiplied with the values, which enter from the side: "
        "the output, a row for each query. Beside each box stands its line of code."
    )
