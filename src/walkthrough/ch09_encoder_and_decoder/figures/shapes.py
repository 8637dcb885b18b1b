"""The way from tokens to probabilities, drawn once, with the shape of everything on it (§3)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from walkthrough.ch09_encoder_and_decoder.experiments.blocks import Shape, Shapes
from walkthrough.drawing.style import PALETTE
from walkthrough.drawing.svg import Drawing, arrow, drawing, words_at

WIDTH = 364
_LABEL = "shape-path"
_COLUMN, _LEFT, _RIGHT = 156, 10, 196  # width of a box, left edges of the two columns
_BOX, _GAP, _FOOT, _HEAD = 22, 32, 34, 6  # a box, shapes above it, the ends


@dataclass(frozen=True)
class Step:
    """One operation: its key in `PathWords.steps`, its colour, and what comes out of it.

    `out` names shapes as (word, block of Figure 1, part).
    """

    name: str
    colour: str
    out: tuple[tuple[str, str, str], ...]


def _attention(block: str, *, cross: bool = False) -> list[Step]:
    made = (("q", block, "queries"), ("k, v", block, "keys"))
    project = "project-cross" if cross else "project"
    return [
        Step(project, "vermilion", made if cross else (("q, k, v", block, "queries"),)),
        Step("scores", "vermilion", (("weights", block, "weights"),)),
        Step("mix", "vermilion", (("states", block, "out"),)),
        Step("norm", "ochre", (("states", f"{block}-norm", "out"),)),
    ]


def _feed_forward(block: str) -> list[Step]:
    return [
        Step("expand", "sky", (("hidden", block, "hidden"),)),
        Step("contract", "sky", (("states", block, "out"),)),
        Step("norm", "ochre", (("states", f"{block}-norm", "out"),)),
    ]


def _entrance(side: str) -> list[Step]:
    return [
        Step("embed", "green", (("vectors", f"{side}-embedding", "out"),)),
        Step("positions", "purple", (("vectors", f"{side}-positions", "out"),)),
    ]


ENCODER = [
    *_entrance("source"),
    *_attention("encoder-attention"),
    *_feed_forward("encoder-feed-forward"),
]
DECODER = [
    *_entrance("target"),
    *_attention("decoder-attention"),
    *_attention("cross-attention", cross=True),
    *_feed_forward("decoder-feed-forward"),
    Step("linear", "green", (("logits", "projection", "logits"),)),
    Step("softmax", "green", (("probabilities", "projection", "out"),)),
]
_LETTERS = 22  # as many fit beside an arrow
_CROSS = next(i for i, step in enumerate(DECODER) if step.name == "project-cross")
_FIRST, _LAST_DECODER = 2, len(DECODER) - 3  # what an encoder and a decoder layer hold


@dataclass(frozen=True)
class PathWords:
    """Every word of the drawing."""

    title: str = "Every shape from tokens to probabilities"
    source: str = "source tokens"
    target: str = "target tokens, shifted right"
    memory: str = "memory"
    times: str = "{n} ×"
    description: str = "From bottom to top. Encoder: {encoder}. Decoder: {decoder}."
    steps: Mapping[str, str] = field(
        default_factory=lambda: {
            "embed": "embedding × √d_model",
            "positions": "+ positional encoding",
            "project": "W^Q, W^K, W^V, split",
            "project-cross": "W^Q; W^K, W^V, split",
            "scores": "softmax(QKᵀ / √d_k)",
            "mix": "weights · V, merge, W^O",
            "norm": "add & layer norm",
            "expand": "W1, ReLU",
            "contract": "W2",
            "linear": "times embeddingᵀ",
            "softmax": "softmax",
        }
    )
    results: Mapping[str, str] = field(
        default_factory=lambda: {
            "vectors": "",
            "states": "",
            "q": "q",
            "k, v": "k, v",
            "q, k, v": "q, k, v",
            "weights": "weights",
            "hidden": "hidden",
            "logits": "logits",
            "probabilities": "probabilities",
        }
    )


def shape_path(shapes: Shapes, *, n_layers: int, words: PathWords | None = None) -> Drawing:
    """Return the drawn path with the shapes that `record_shapes` saw.

    Raises:
        ValueError: a shape on the path was not recorded.
    """
    words = words or PathWords()
    for step in [*ENCODER, *DECODER]:
        for _, block, part in step.out:
            if part not in shapes.get(block, {}):
                raise ValueError(f"no shape was recorded for {part!r} of the block {block!r}")
    left = _lines(ENCODER, shapes, words)
    right = _lines(DECODER, shapes, words)
    height = _FOOT + 14 + len(DECODER) * (_BOX + _GAP) + _HEAD
    drawn = (
        _column(_LEFT, height, ENCODER, left, words)
        + _column(_RIGHT, height, DECODER, right, words)
        + _entry(_LEFT, height, words.source, shapes["source-embedding"]["in"])
        + _entry(_RIGHT, height, words.target, shapes["target-embedding"]["in"])
        + _frame(_LEFT, height, len(ENCODER) - 1, words.times.format(n=n_layers))
        + _frame(_RIGHT, height, _LAST_DECODER, words.times.format(n=n_layers))
        + _memory(height, words.memory)
    )
    text = words.description.format(
        encoder=_in_words(ENCODER, shapes, words), decoder=_in_words(DECODER, shapes, words)
    )
    return drawing(
        drawn,
        kind="shape-path",
        label=_LABEL,
        size=(WIDTH, height),
        width=460,
        title=words.title,
        description=text,
    )


def _said(step: Step, shapes: Shapes, words: PathWords) -> list[tuple[str, str]]:
    """The word and the numbers of everything that comes out of a step."""
    return [(words.results[word], _numbers(shapes[block][part])) for word, block, part in step.out]


def _lines(steps: Sequence[Step], shapes: Shapes, words: PathWords) -> list[list[str]]:
    return [
        [line for said in _said(step, shapes, words) for line in _broken(*said)] for step in steps
    ]


def _broken(word: str, numbers: str) -> list[str]:
    line = f"{word} {numbers}".strip()
    return [line] if len(line) <= _LETTERS else [word, numbers]


def _numbers(shape: Shape) -> str:
    return f"({', '.join(map(str, shape))})"


def _top(height: int, place: int) -> int:
    """The upper edge of a box; places count from the bottom."""
    return height - _FOOT - 14 - _BOX - place * (_BOX + _GAP)


def _column(
    x: int, height: int, steps: Sequence[Step], lines: Sequence[Sequence[str]], words: PathWords
) -> str:
    drawn = ""
    for place, (step, results) in enumerate(zip(steps, lines, strict=True)):
        top, colour = _top(height, place), PALETTE[step.colour]
        drawn += (
            f'<g data-step="{step.name}"><rect x="{x}" y="{top}" width="{_COLUMN}" '
            f'height="{_BOX}" rx="5" fill="{colour}" fill-opacity="0.16" stroke="{colour}" '
            f'stroke-width="1.5"/>{words_at(x + _COLUMN // 2, top + 15, words.steps[step.name])}'
        )
        middle = top - _GAP / 2 + 4 - 6.5 * (len(results) - 1)
        for number, line in enumerate(results):
            drawn += words_at(x + 30, middle + 13 * number, line, "start")
        drawn += f"</g>{arrow(f'M{x + 20} {top}V{top - _GAP + 1}', _LABEL)}"
    return drawn


def _entry(x: int, height: int, words: str, shape: Shape) -> str:
    low = height - _FOOT
    lines = words_at(x, low + 14, words, "start") + words_at(x, low + 28, _numbers(shape), "start")
    return lines + arrow(f"M{x + 20} {low + 2}V{low - 13}", _LABEL)


def _frame(x: int, height: int, last: int, times: str) -> str:
    top = _top(height, last) - 7
    bottom = _top(height, _FIRST) + _BOX + 6
    return (
        f'<rect x="{x - 8}" y="{top}" width="{_COLUMN + 16}" height="{bottom - top}" rx="9" '
        f'stroke-opacity="0.6" stroke-dasharray="4 3"/>'
        + words_at(x + _COLUMN + 4, top - 6, times, "end")
    )


def _memory(height: int, words: str) -> str:
    top = _top(height, len(ENCODER) - 1) - _GAP
    level = _top(height, _CROSS) + _BOX // 2
    between = (_LEFT + _COLUMN + _RIGHT) // 2
    return arrow(
        f"M{_LEFT + 20} {top}V{top - 10}H{between}V{level}H{_RIGHT - 2}", _LABEL, 2.0
    ) + words_at(_LEFT + 30, top - 16, words, "start")


def _in_words(steps: Sequence[Step], shapes: Shapes, words: PathWords) -> str:
    return "; ".join(
        f"{words.steps[step.name]} gives "
        + " and ".join(" ".join(said).strip() for said in _said(step, shapes, words))
        for step in steps
    )
