"""The three attentions of the model, each with its mask, in one drawing (§3.2.3)."""

from collections.abc import Sequence

from jaxtyping import Bool
from torch import Tensor

from walkthrough.drawing.style import NOT_ALLOWED, ON_NOT_ALLOWED, PALETTE, WEIGHT, ink
from walkthrough.drawing.svg import Drawing, arrow, drawing, words_at

WIDTH, HEIGHT = 360, 452
CELL, LABELS = 17, 50
BOX = (164, 186)
_LEFT, _RIGHT, _UPPER, _LOWER = 6, 190, 30, 244


def masks_on_model(
    encoder: Bool[Tensor, "source_len source_len"],
    decoder: Bool[Tensor, "target_len target_len"],
    cross: Bool[Tensor, "target_len source_len"],
    *,
    source: Sequence[str],
    target: Sequence[str],
    width: int = 460,
    title: str = "Three attentions, three masks: rows ask, columns answer",
    names: tuple[str, str, str] = (
        "encoder|self-attention",
        "masked decoder|self-attention",
        "encoder–decoder|attention",
    ),
    legend: tuple[str, str] = ("may attend", "closed"),
    description: str | None = None,
) -> Drawing:
    """Return the drawing: encoder on the left, decoder on the right, a grid of cells in each.

    Raises:
        ValueError: a mask does not have a row for each query and a column for each key, or a
            sentence has more than six tokens, which is all there is room for.
    """
    grids = ((encoder, source, source), (decoder, target, target), (cross, target, source))
    for mask, queries, keys in grids:
        if tuple(mask.shape) != (len(queries), len(keys)):
            raise ValueError(
                f"a mask needs a row for each query and a column for each key: expected "
                f"({len(queries)}, {len(keys)}), got {tuple(mask.shape)}"
            )
    if max(len(source), len(target)) > 6:
        raise ValueError(f"at most 6 tokens fit, got {len(source)} and {len(target)}")
    label = f"masks-{width}"
    places = ((_LEFT, _LOWER), (_RIGHT, _LOWER), (_RIGHT, _UPPER))
    boxes = "".join(
        _box(name.split("|"), x, y, mask, queries, keys)
        for name, (x, y), (mask, queries, keys) in zip(names, places, grids, strict=True)
    )
    return drawing(
        boxes + _wires(label) + _legend(legend),
        kind="masks",
        label=label,
        size=(WIDTH, HEIGHT),
        width=width,
        title=title,
        description=description or _in_words(names, grids),
    )


def _box(
    name: Sequence[str],
    x: int,
    y: int,
    mask: Tensor,
    queries: Sequence[str],
    keys: Sequence[str],
) -> str:
    middle = x + BOX[0] / 2
    frame = (
        f'<rect x="{x}" y="{y}" width="{BOX[0]}" height="{BOX[1]}" rx="7" '
        f'fill="{PALETTE["grey"]}" fill-opacity="0.08" stroke="{PALETTE["grey"]}"/>'
    )
    lines = "".join(words_at(middle, y + 16 + 14 * n, line) for n, line in enumerate(name))
    left, top = x + LABELS + 6, y + 36 + LABELS
    rows = "".join(
        words_at(left - 4, top + CELL * n + 13, word, "end") for n, word in enumerate(queries)
    )
    columns = "".join(
        f'<g transform="translate({left + CELL * n + 13} {top - 4}) rotate(-90)">'
        f"{words_at(0, 0, word, 'start')}</g>"
        for n, word in enumerate(keys)
    )
    cells = "".join(
        _cell(left + CELL * column, top + CELL * row, bool(is_open))
        for row, line in enumerate(mask.tolist())
        for column, is_open in enumerate(line)
    )
    return f"<g>{frame}{lines}{rows}{columns}{cells}</g>"


def _cell(x: int | float, y: int | float, is_open: bool) -> str:
    size = CELL - 2
    colour = WEIGHT if is_open else NOT_ALLOWED
    rect = (
        f'<rect class="{"open" if is_open else "closed"}" x="{x}" y="{y}" width="{size}" '
        f'height="{size}" fill="{colour}" stroke="none"/>'
    )
    if is_open:
        return rect
    far = size - 4
    cross = f"M{x + 4} {y + 4}l{far - 4} {far - 4}m0 {4 - far}l{4 - far} {far - 4}"
    return f'{rect}<path d="{cross}" stroke="{ON_NOT_ALLOWED}" stroke-width="1.5"/>'


def _wires(label: str) -> str:
    left, right = _LEFT + BOX[0] // 2, _RIGHT + BOX[0] // 2
    half = _UPPER + BOX[1] // 2
    return (
        arrow(f"M{left} {_LOWER}V{half}H{_RIGHT - 1}", label, 2.0)
        + words_at(left + 6, half - 8, "keys, values", "start", ink("key"))
        + arrow(f"M{right} {_LOWER}V{_UPPER + BOX[1] + 1}", label)
        + words_at(right + 8, _LOWER - 9, "queries", "start", ink("query"))
        + arrow(f"M{right} {_UPPER}V{_UPPER - 22}", label)
        + arrow(f"M{left} {HEIGHT - 3}V{_LOWER + BOX[1] + 1}", label)
        + arrow(f"M{right} {HEIGHT - 3}V{_LOWER + BOX[1] + 1}", label)
        + words_at(left + 8, HEIGHT - 6, "source", "start")
        + words_at(right + 8, HEIGHT - 6, "target read", "start")
    )


def _legend(words: tuple[str, str]) -> str:
    return "".join(
        _cell(_LEFT + 4, 34 + 22 * n, n == 0) + words_at(_LEFT + 26, 46 + 22 * n, word, "start")
        for n, word in enumerate(words)
    )


def _in_words(
    names: Sequence[str], grids: Sequence[tuple[Tensor, Sequence[str], Sequence[str]]]
) -> str:
    counts = "; ".join(
        f"{name.replace('|', ' ')}: {int(mask.sum())} of {mask.numel()} cells open, "
        f"queries {' '.join(queries)}, keys {' '.join(keys)}"
        for name, (mask, queries, keys) in zip(names, grids, strict=True)
    )
    return (
        "The encoder's self-attention on the left sends keys and values to the encoder–decoder "
        "attention on the right, which stands above the decoder's masked self-attention. Each "
        f"holds the grid of its mask: {counts}."
    )
