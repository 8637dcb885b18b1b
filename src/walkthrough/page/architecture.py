"""The paper's architecture (Figure 1) in our own drawing; its blocks can link to chapters."""

import html
from collections.abc import Mapping
from dataclasses import dataclass

from walkthrough.drawing.style import PALETTE
from walkthrough.drawing.svg import Drawing, arrow, drawing, words_at

WIDTH, HEIGHT = 360, 424
BOX_WIDTH = 136
_LEFT, _RIGHT = 26, 204  # left edge of the two columns


@dataclass(frozen=True)
class Block:
    """One box: its words (one line each) and its place."""

    words: tuple[str, ...]
    x: int
    y: int
    height: int


def _block(words: str, x: int, y: int, height: int = 32) -> Block:
    return Block(tuple(words.split("|")), x, y, height)


# In the order in which a sentence passes through them, which is also the tab order of the links.
BLOCKS = {
    "source-embedding": _block("source embedding", _LEFT, 364),
    "source-positions": _block("+ positional encoding", _LEFT, 324, 26),
    "encoder-attention": _block("multi-head|self-attention", _LEFT, 266),
    "encoder-attention-norm": _block("add & layer norm", _LEFT, 238, 22),
    "encoder-feed-forward": _block("feed-forward", _LEFT, 190),
    "encoder-feed-forward-norm": _block("add & layer norm", _LEFT, 162, 22),
    "target-embedding": _block("target embedding|(shifted right)", _RIGHT, 364),
    "target-positions": _block("+ positional encoding", _RIGHT, 324, 26),
    "decoder-attention": _block("masked multi-head|self-attention", _RIGHT, 266),
    "decoder-attention-norm": _block("add & layer norm", _RIGHT, 238, 22),
    "cross-attention": _block("multi-head attention|to the encoder", _RIGHT, 190),
    "cross-attention-norm": _block("add & layer norm", _RIGHT, 162, 22),
    "decoder-feed-forward": _block("feed-forward", _RIGHT, 114),
    "decoder-feed-forward-norm": _block("add & layer norm", _RIGHT, 86, 22),
    "projection": _block("linear and softmax", _RIGHT, 24, 28),
}


SHORT = {
    "embedding": "embedding",
    "positions": "+ positions",
    "norm": "add & norm",
    "encoder-attention": "self-attention",
    "decoder-attention": "masked self-att.",
    "cross-attention": "cross-attention",
    "feed-forward": "feed-forward",
    "projection": "softmax",
}
"""What the small map says, by the end of a block's name: its words have 12 px in the margin."""
MARGIN, SMALL_MAP_FONT = 216, 20


def _named(*parts: str) -> tuple[str, ...]:
    return tuple(name for name in BLOCKS if any(part in name for part in parts))


# What a chapter builds → the blocks that stand out on its map.
PARTS: dict[str, tuple[str, ...]] = {
    **{name: (name,) for name in BLOCKS},
    "attention": ("encoder-attention", "decoder-attention", "cross-attention"),
    "mask": ("decoder-attention",),
    "feed-forward": ("encoder-feed-forward", "decoder-feed-forward"),
    "embedding": ("source-embedding", "target-embedding", "projection"),
    "positions": ("source-positions", "target-positions"),
    "norm": _named("norm"),
    "encoder": _named("encoder-", "source"),
    "decoder": _named("decoder-", "cross", "target", "projection"),
    "model": tuple(BLOCKS),
    "none": (),
}


_LIT = ' class="lit"'


def architecture(
    highlight: str = "none",
    *,
    links: Mapping[str, str] | None = None,
    width: int = 520,
    title: str = "The Transformer: encoder on the left, decoder on the right",
    description: str | None = None,
    small: bool = False,
) -> Drawing:
    """Return the drawing of the whole model; `links` maps block names to addresses.

    `small`, its words are few and large.

    `highlight` names a part (see `PARTS`); `links` may name parts too, the more specific one wins.

    Raises:
        ValueError: an unknown part.
    """
    for part in (highlight, *(links or {})):
        if part not in PARTS:
            raise ValueError(f"unknown part {part!r}; known: {', '.join(sorted(PARTS))}")
    addresses: dict[str, str] = {}
    for part, address in sorted((links or {}).items(), key=lambda item: -len(PARTS[item[0]])):
        addresses |= dict.fromkeys(PARTS[part], address)
    lit = PARTS[highlight]
    drawn = "".join(_draw(name, name in lit, addresses.get(name), small) for name in BLOCKS)
    label = f"arch-{highlight}-{width}"
    body = _wiring(label, small) + drawn
    return drawing(
        f'<g font-size="{SMALL_MAP_FONT}">{body}</g>' if small else body,
        kind="architecture",
        label=label,
        size=(WIDTH, HEIGHT),
        width=width,
        title=title,
        description=description or _in_words(highlight, lit),
        # a picture hides its children from screen readers, so one with links is a group
        role="group" if addresses else "img",
    )


def chapter_map(
    part: str, *, width: int = 340, title: str = "Where this chapter's part sits in the model"
) -> Drawing:
    """Return the small map at the head of a chapter: the model with the part being built lit."""
    return architecture(part, width=width, title=title, small=True)


def _in_words(highlight: str, lit: tuple[str, ...]) -> str:
    words = (
        "The source sentence enters the encoder from below: embedding, positional encoding, then "
        "N layers of self-attention and feed-forward, each followed by add and layer norm. The "
        "target sentence, shifted right, enters the decoder in the same way; each of its N layers "
        "has masked self-attention, attention to the encoder's output, and feed-forward. A linear "
        "map and a softmax on top give the probabilities of the next token."
    )
    return f"{words} Highlighted: {highlight}." if lit and highlight != "model" else words


def _draw(name: str, lit: bool, address: str | None, small: bool) -> str:
    block = BLOCKS[name]
    said = tuple(words for end, words in SHORT.items() if name.endswith(end))
    shown = said[:1] if small else block.words
    colour = PALETTE["blue" if lit else "grey"]
    ink, opacity = ("#ffffff", 1) if lit else ("currentColor", 0.16)
    middle = block.x + BOX_WIDTH / 2
    first = block.y + block.height / 2 + (7 if small else 4) - 6.5 * (len(shown) - 1)
    lines = "".join(
        words_at(middle, first + 13 * n, words, ink=ink) for n, words in enumerate(shown)
    )
    box = (
        f'<rect x="{block.x}" y="{block.y}" width="{BOX_WIDTH}" height="{block.height}" rx="5" '
        f'fill="{colour}" fill-opacity="{opacity}" stroke="{colour}" stroke-width="1.5"/>'
    )
    group = f'<g data-block="{name}"{_LIT if lit else ""}>{box}{lines}</g>'
    return f'<a href="{html.escape(address)}">{group}</a>' if address else group


def _wiring(label: str, small: bool) -> str:
    left, right = _LEFT + BOX_WIDTH // 2, _RIGHT + BOX_WIDTH // 2
    stacks = _stack(_LEFT - 20, 154, 158) + _stack(_RIGHT - 20, 78, 234)
    ups = [(left, 408, 397), (left, 364, 351), (left, 324, 299), (left, 238, 223)]
    ups += [(right, 408, 397), (right, 364, 351), (right, 324, 299)]
    ups += [(right, 238, 223), (right, 162, 147), (right, 86, 53), (right, 24, 15)]
    arrows = "".join(arrow(f"M{x} {start}V{end}", label) for x, start, end in ups)
    # what bypasses a sub-layer and is added after it
    for column, bends in ((_LEFT, ((306, 249), (230, 173))), (_RIGHT, ((306, 249), (154, 97)))):
        for start, end in bends:
            middle = column + BOX_WIDTH // 2
            arrows += arrow(f"M{middle} {start}H{column - 10}V{end}H{column - 1}", label)
    arrows += arrow(f"M{right} 230H{_RIGHT + BOX_WIDTH + 10}V173H{_RIGHT + BOX_WIDTH + 1}", label)
    between = (_LEFT + BOX_WIDTH + _RIGHT) // 2 - 4
    memory = arrow(f"M{left} 162V142H{between}V206H{_RIGHT - 1}", label, 2.0)
    if small:
        return stacks + arrows + memory
    ends = (
        words_at(left, 420, "source sentence")
        + words_at(right, 420, "target sentence so far")
        + words_at(right, 11, "next token's probabilities")
        + words_at(_LEFT - 20, 146, "encoder, N ×", "start")
        + words_at(_RIGHT - 20, 71, "decoder, N ×", "start")
    )
    return stacks + arrows + memory + ends


def _stack(x: int, y: int, height: int) -> str:
    return (
        f'<rect x="{x}" y="{y}" width="{BOX_WIDTH + 34}" height="{height}" rx="9" '
        f'stroke-opacity="0.55" stroke-dasharray="4 3"/>'
    )
