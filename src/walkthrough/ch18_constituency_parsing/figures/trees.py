"""Trees drawn in the page: gold above, predicted below, wrong and missed brackets marked (§6.3)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from transformer.parsing.brackets import Span, labelled_spans
from transformer.parsing.trees import Tree, leaves
from walkthrough.drawing.style import PALETTE
from walkthrough.drawing.svg import Drawing, box_at, drawing, words_at

ROW, COLUMN, LETTER, WIDE, WIDTH = 26, 46, 7.2, 8.6, 360
"""Height of a row; width of a level, of a small letter, of a capital, and of the whole."""
COLOURS = {"agrees": PALETTE["blue"], "wrong": PALETTE["vermilion"], "missed": PALETTE["ochre"]}
MARKS = {"agrees": "", "wrong": " ✗", "missed": " ?"}


@dataclass(frozen=True)
class Node:
    """A constituent with its place: its level, the middle of its rows, the number of its parent."""

    label: str
    start: int
    end: int
    level: int
    y: float
    parent: int | None
    state: str


def compared_trees(gold: Tree, predicted: Tree, *, label: str) -> Drawing:
    """Return the gold tree above the predicted one.

    A predicted constituent that the gold tree does not have is vermilion, dashed and crossed; one
    of the gold tree that the prediction lacks is ochre, dashed, with a question mark.

    Raises:
        ValueError: the trees are over different words.
    """
    words = list(leaves(gold))
    if words != list(leaves(predicted)):
        raise ValueError(
            "both trees must have the same words, got "
            f"{' '.join(words)!r} and {' '.join(leaves(predicted))!r}"
        )
    missed = labelled_spans(gold) - labelled_spans(predicted)
    wrong = labelled_spans(predicted) - labelled_spans(gold)
    sides = (
        ("gold", gold, placed(gold, missed, "missed")),
        ("predicted", predicted, placed(predicted, wrong, "wrong")),
    )
    parts, top, sentences = [], 0, []
    for name, tree, nodes in sides:
        parts.append(words_at(4, top + 14, name, anchor="start"))
        body, height = _tree(tree, nodes, top=top + 22)
        parts.append(body)
        top = height
        sentences.append(f"{name}: {told(nodes, words)}")
    return drawing(
        "".join(parts),
        kind="tree",
        label=label,
        size=(WIDTH, top),
        width=460,
        title=f"Gold and predicted tree of “{' '.join(words)}”",
        description=" ".join(sentences),
    )


def placed(tree: Tree, marked: Counter[Span], state: str) -> list[Node]:
    """Return the constituents, parents first; those counted in `marked` get the state."""
    left = Counter(marked)
    nodes: list[Node] = []

    def visit(node: Tree, start: int, level: int, parent: int | None) -> int:
        number = len(nodes)
        nodes.append(Node(node[0], start, start, level, 0.0, parent, "agrees"))
        end = start
        for child in node[1:]:
            end = end + 1 if isinstance(child, str) else visit(child, end, level + 1, number)
        own = (node[0], start, end)
        is_marked = left[own] > 0
        left[own] -= is_marked
        middle = (start + end - 1) / 2
        nodes[number] = Node(
            node[0], start, end, level, middle, parent, state if is_marked else "agrees"
        )
        return end

    visit(tree, 0, 0, None)
    return nodes


def told(nodes: list[Node], words: list[str]) -> str:
    """Return the constituents in words, for someone who does not see the drawing."""
    parts = []
    for node in nodes:
        state = "" if node.state == "agrees" else f", {node.state}"
        parts.append(f"{node.label} over “{' '.join(words[node.start : node.end])}”{state}")
    return "; ".join(parts) + "."


def _tree(tree: Tree, nodes: list[Node], *, top: float | int) -> tuple[str, int]:
    words = list(leaves(tree))
    levels = max(node.level for node in nodes) + 1
    longest = max(map(len, words)) * LETTER
    column = min(COLUMN, (WIDTH - longest - 14) / levels)
    right = float(levels * column + 12)
    parts, deepest = [], [0] * len(words)
    owner = [0] * len(words)
    for number, node in enumerate(nodes):
        for place in range(node.start, node.end):
            if node.level >= deepest[place]:
                deepest[place], owner[place] = node.level, number

    def middle(node: Node) -> tuple[float, float]:
        return node.level * column + column / 2, top + node.y * ROW + ROW / 2

    for node in nodes:
        if node.parent is not None:
            parts.append(_line(*middle(nodes[node.parent]), *middle(node)))
    for place, word in enumerate(words):
        y = top + place * ROW + ROW / 2
        parts.append(_line(*middle(nodes[owner[place]]), right - 4, y))
        parts.append(words_at(right, y + 4, word, anchor="start"))
    for node in nodes:
        x, y = middle(node)
        text = node.label + MARKS[node.state]
        width = max(24, len(text) * WIDE + 8)
        # the page's own ground under the box, so that lines end at its edge
        parts.append(
            f'<rect x="{x - width / 2:g}" y="{y - 9:g}" width="{width:g}" height="18" rx="5" '
            'fill="var(--pst-color-background, white)" stroke="none"/>'
        )
        colour, dashed = COLOURS[node.state], node.state != "agrees"
        parts.append(box_at(x - width / 2, y - 9, width, 18, colour, dashed=dashed))
        parts.append(words_at(x, y + 4, text))
    return "".join(parts), int(top + len(words) * ROW + 8)


def _line(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<path d="M{x1:g} {y1:g}L{x2:g} {y2:g}" stroke-width="1" stroke-opacity="0.45"/>'
