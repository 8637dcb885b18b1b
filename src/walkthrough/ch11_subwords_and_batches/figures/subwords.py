"""How sentences fall into pieces as merges are learned (§5.1)."""

import html
from collections.abc import Sequence
from itertools import accumulate

from transformer.data.bpe import Merge, encode, merge_ranks
from walkthrough.drawing.look import KEY
from walkthrough.drawing.scene import Scene, at, glides, scene

SPACE = "▁"
_CSS = f"""
[id^=scene-merges] .line{{margin:0 0 1em}}
[id^=scene-merges] .words{{display:flex;flex-wrap:wrap;row-gap:.35em;min-height:2em;
font-family:var(--book-mono,ui-monospace,monospace);font-size:1.05em}}
[id^=scene-merges] .words>span{{display:inline-flex}}
[id^=scene-merges] b{{font-weight:500;padding:.22em 0;margin-left:var(--a,var(--z));
background:color-mix(in srgb,{KEY} 34%,transparent)}}
[id^=scene-merges] small{{font-size:.85em;opacity:.85}}
@container(min-width:620px){{[id^=scene-merges] .words{{font-size:1.2em}}}}
"""


def live_merges(
    merges: Sequence[Merge],
    lines: Sequence[str],
    stops: Sequence[int],
    *,
    name: str = "merges",
    question: str = "How many merges?",
    first: int = 2,
) -> Scene:
    """Return the lines cut into pieces after so many merges as each stop of the slider says.

    Letters of one piece stand together. "▁" is the space before a word.

    Raises:
        ValueError: there is no line, or a stop is not a number of merges.
    """
    if not lines or not all(0 <= stop <= len(merges) for stop in stops):
        raise ValueError(f"stops must be between 0 and {len(merges)} merges, got {list(stops)}")
    cuts = [[pieces_after(merges[:stop], line) for stop in stops] for line in lines]
    stage = "".join(
        f'<div class="line"><div class="words">{_letters(line, cut, first)}</div>'
        + "".join(
            f"<small{at(n, first=first)}>{len(parts)} pieces</small>" for n, parts in enumerate(cut)
        )
        + "</div>"
        for line, cut in zip(lines, cuts, strict=True)
    )
    return scene(
        name,
        stage,
        question=question,
        choices=[str(stop) for stop in stops],
        says=[_said(merges, stop) for stop in stops],
        first=first,
        slider=True,
        css=_CSS,
    )


def pieces_after(merges: Sequence[Merge], line: str) -> list[str]:
    """Return the pieces of a line, spelled with these merges."""
    return encode(line, merge_ranks(merges))


def _letters(line: str, cuts: Sequence[list[str]], first: int) -> str:
    starts = [{0, *accumulate(map(len, parts))} for parts in cuts]
    words, text = "", " " + line
    for place, letter in enumerate(text):
        gaps = [".32em" if place in found else "0em" for found in starts]
        words += "</span><span>" if letter == " " and place else ""
        shown = html.escape(letter.replace(" ", SPACE))
        words += f'<b class="glides" style="--z:{gaps[first]};{glides(gaps)}">{shown}</b>'
    return f"<span>{words}</span>"


def _said(merges: Sequence[Merge], known: int) -> str:
    if not known:
        return "No merge yet: every character is a piece of its own."
    left, right = (html.escape(part.replace(" ", SPACE)) for part in merges[known - 1])
    return (
        f"Merge {known} joined <code>{left}</code> and <code>{right}</code>, at that moment the "
        "pair that stood side by side most often."
    )
