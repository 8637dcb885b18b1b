"""The lead picture: a sentence, its tree, and the row of brackets that a walk around it writes."""

import html
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate

from transformer.parsing.symbols import is_bracket, linearize
from transformer.parsing.trees import Tree, leaves
from walkthrough.ch18_constituency_parsing.figures.trees import Node, placed
from walkthrough.drawing.scene import FRAMES, Scene, scene
from walkthrough.drawing.style import PALETTE

LETTER, GAP, ROW, TOP = 7.4, 26.0, 42.0, 17.0
OPEN, CLOSED = PALETTE["ochre"], PALETTE["blue"]
_NEW = "".join(
    f'#scene-walk:has([value="{frame}"]:checked) .new-{frame}'
    f"{{background:color-mix(in srgb,{OPEN} 30%,transparent)}}"
    for frame in range(FRAMES)
)
_CSS = f"""
.scene .is{{opacity:0;transition:opacity .3s}}
@supports not selector(:has(*)){{.scene .on-{FRAMES - 1}{{opacity:1}}}}
#scene-walk svg{{width:100%;max-width:480px;margin:auto;font-size:13px}}
#scene-walk rect{{stroke-width:1.6;fill:var(--pst-color-background,Canvas)}}
#scene-walk text{{text-anchor:middle;fill:currentColor}}
#scene-walk .later rect{{stroke:currentColor;stroke-opacity:.45}}
#scene-walk .open rect{{stroke:{OPEN};
fill:color-mix(in srgb,{OPEN} 38%,var(--pst-color-background,Canvas))}}
#scene-walk .closed rect{{stroke:{CLOSED};
fill:color-mix(in srgb,{CLOSED} 24%,var(--pst-color-background,Canvas))}}
#scene-walk .symbols{{font-family:var(--pst-font-family-monospace,monospace);font-size:.96em;
line-height:1.65;margin:1em 0 0;min-height:3.3em}}
@container(max-width:459px){{#scene-walk .symbols{{min-height:4.95em}}}}
#scene-walk .symbols span{{padding:.1em;border-radius:3px}}
{_NEW}"""


def tree_walk(tree: Tree, *, first: int = 5, question: str = "Walk around the tree") -> Scene:
    """Return the walk, a frame a word: before it the sentence and the tree, after it the end.

    Raises:
        ValueError: a sentence of more words than there are frames.
    """
    words = list(leaves(tree))
    if len(words) > FRAMES - 3:
        raise ValueError(f"a walk has frames for {FRAMES - 3} words, got {len(words)}")
    symbols = linearize(tree, words)
    frames, n_words = [], 0  # the frame in which each symbol is written
    for symbol in symbols:
        frames.append(n_words + 2)
        n_words += not is_bracket(symbol)
    row = " ".join(
        f'<span class="is {_on(frame)} new-{frame}">{html.escape(symbol)}</span>'
        for symbol, frame in zip(symbols, frames, strict=True)
    )
    return scene(
        "walk",
        f'{_drawn(tree, words, symbols, frames)}<p class="symbols">{row}</p>',
        question=question,
        choices=["sentence", "tree", *map(html.escape, words), "end"],
        says=_told(words, symbols, frames),
        first=first,
        css=_CSS,
    )


def _on(start: int, end: int = FRAMES) -> str:
    """Return the classes of what is seen from one frame on, before another."""
    return " ".join(f"on-{frame}" for frame in range(start, end))


def _drawn(tree: Tree, words: Sequence[str], symbols: Sequence[str], frames: Sequence[int]) -> str:
    nodes = placed(tree, Counter(), "agrees")
    widths = [LETTER * len(word) + GAP for word in words]
    ends = list(accumulate(widths))
    middles = [end - width / 2 for end, width in zip(ends, widths, strict=True)]
    depth = 1 + max(node.level for node in nodes)
    height = TOP + ROW * depth + 8

    def spot(node: Node) -> tuple[float, float]:
        return (middles[node.start] + middles[node.end - 1]) / 2, TOP + ROW * node.level

    opens = [frame for s, frame in zip(symbols, frames, strict=True) if s.startswith("(")]
    lines, boxes = "", ""
    for number, node in enumerate(nodes):
        x, y = spot(node)
        if node.parent is not None:
            lines += _line(spot(nodes[node.parent]), (x, y))
        inside = [child for child in nodes if child.parent == number]
        for place in range(node.start, node.end):
            if not any(child.start <= place < child.end for child in inside):
                lines += _line(
                    (x, y),
                    (middles[place], min(y + ROW, height - 20)),
                    (middles[place], height - 20),
                )
        closes = node.end + 2  # with the word that follows
        for state, start, end in (
            ("later", 1, opens[number]),
            ("open", opens[number], closes),
            ("closed", closes, FRAMES),
        ):
            boxes += (
                f'<g class="is {state} {_on(start, end)}"><rect x="{x - 17:g}" y="{y - 12:g}" '
                f'width="34" height="24" rx="6"/><text x="{x:g}" y="{y + 4.5:g}">{node.label}'
                "</text></g>"
            )
    below = "".join(
        f'<text x="{x:g}" y="{height - 4:g}">{html.escape(word)}</text>'
        for x, word in zip(middles, words, strict=True)
    )
    return (
        f'<svg viewBox="0 0 {ends[-1]:g} {height:g}" aria-hidden="true">'
        f'<g class="is {_on(1)}" stroke="currentColor" stroke-opacity="0.5">{lines}</g>'
        f"{boxes}{below}</svg>"
    )


def _line(*points: tuple[float, float]) -> str:
    return f'<path d="M{"L".join(f"{x:g} {y:g}" for x, y in points)}"/>'


def _told(words: Sequence[str], symbols: Sequence[str], frames: Sequence[int]) -> list[str]:
    told = [
        f"{len(words)} words. Which of them belong together?",
        "A box is a group of words with a label: <b>S</b> a sentence, <b>NP</b> a noun phrase, "
        "<b>VP</b> a verb phrase, <b>PP</b> a phrase with a preposition.",
    ]
    for number, word in enumerate(words):
        written = symbols[: frames.index(number + 3)]
        opened: list[str] = []
        for symbol in written:
            if symbol.startswith("("):
                opened.append(symbol[1:])
            elif symbol.startswith(")"):
                opened.pop()
        told.append(
            f"At <i>{html.escape(word)}</i>: {len(written)} symbols are written, and "
            f"<b>{', '.join(opened)}</b> {'is' if len(opened) == 1 else 'are'} open."
        )
    end = f"{len(symbols)} symbols for {len(words)} words. All that has opened is closed."
    return [*told, end]
