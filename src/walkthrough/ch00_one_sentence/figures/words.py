"""Step 1: words become numbers. Step 6: what the decoder may see. Step 10: what it said."""

import html
from collections.abc import Sequence
from typing import Any

from walkthrough.ch00_one_sentence.journey import START, Journey
from walkthrough.drawing.look import HATCH, OUTPUT, VECTOR
from walkthrough.drawing.scene import Scene, at, scene, strip

_WORDS_CSS = """
#scene-words .stage{display:grid;grid-template-columns:auto auto 1fr 1fr 1fr;gap:.42em .7em;
align-items:center}
#scene-words .stage b{font-weight:600}
#scene-words .near{grid-column:4/6}
#scene-words small{font-size:max(.82em,12px);opacity:.8}
"""


def words_to_vectors(
    journey: Journey,
    neighbours: Sequence[Sequence[str]],
    *,
    choices: Sequence[str] = ("1 Words are numbered", "2 Each number is a vector", "3 And a place"),
    headings: Sequence[str] = ("word", "number", "its vector", "+ its place", "= what goes in"),
    nearest: str = "nearest words",
    caption: str = "Figure 0.2. From words to what the model reads. A stripe is one number, the "
    "stronger the larger.",
) -> Scene:
    """Return the words with their ids, their vectors and the vectors of their places."""
    rest = at(2, first=2)
    head = [f"<small>{words}</small>" for words in headings]
    top = (
        head[0] + head[1] + f"<small{at(1, 2, first=2)}>{headings[2]}</small>"
        f"<small{at(1, first=2, more='near')}>{nearest}</small>"
        f"<small{rest}>{headings[3]}</small><small{rest}>{headings[4]}</small>"
        f'<i{at(0, first=2)} style="grid-column:3/6"></i>'
    )
    whole = journey.stages[0]
    reach = float(whole.abs().max()) * 0.7
    rows = []
    for n, word in enumerate(journey.source):
        near = ", ".join(map(html.escape, neighbours[n]))
        rows.append(
            f'<b>{html.escape(word)}</b><span class="num">{journey.source_ids[n]}</span>'
            + strip(
                journey.embedded[n], VECTOR, reach=reach, attributes=at(1, 2, first=2, more="strip")
            )
            + f"<span{at(1, first=2, more='near')}>{near}</span>"
            + strip(
                journey.positions[n], VECTOR, reach=1.0, attributes=at(2, first=2, more="strip")
            )
            + strip(whole[n], VECTOR, reach=reach, attributes=at(2, first=2, more="strip"))
            + f'<i{at(0, first=2)} style="grid-column:3/6;height:1.5em"></i>'
        )
    description = (
        f"The words {', '.join(journey.source)} with their numbers {journey.source_ids}, each "
        f"number's vector as a bar code of {whole.shape[1]} stripes, and the vector of its place "
        "added to it."
    )
    return scene(
        "words",
        top + "".join(rows),
        caption=caption,
        description=description,
        choices=choices,
        first=2,
        css=_WORDS_CSS,
    )


_SEEN_CSS = """
#scene-seen .stage{display:grid;gap:.5em}
#scene-seen .line{display:flex;gap:2px;font-size:max(.92em,12px)}
#scene-seen .line span{padding:.3em;border-radius:5px;
background:color-mix(in srgb,#0072b2 calc(var(--p)*55%),transparent);
box-shadow:inset 0 0 0 1px color-mix(in srgb,currentColor 22%,transparent)}
#scene-seen .line .shut{background:HATCH}
@container(min-width:460px){#scene-seen .line{font-size:1.05em;gap:.3em}
#scene-seen .line span{padding:.35em .6em}}
#scene-seen .shut s{opacity:0}
#scene-seen .line .next{font-weight:650;background:none;box-shadow:inset 0 0 0 2.5px #a87a00}
""".replace("HATCH", HATCH)


def seen_so_far(
    journey: Journey,
    *,
    layer: int,
    head: int,
    question: str = "What the decoder reads, and what it must write",
    caption: str = "Figure 0.8. Each line is one moment of writing: what is read, the word that "
    "must be written, framed, and what may not be seen, hatched. The bluer a word, the more "
    "weight one head of the decoder gives it.",
) -> Scene:
    """Return the decoder's input line by line: what is written, and what is closed."""
    read = [START, *journey.target[:-1]]
    weights = journey.maps.decoder[layer, 0, head].tolist()
    lines = ""
    for row, wanted in enumerate(journey.target):
        words = "".join(
            f'<span style="--p:{weights[row][n]:.2f}">{html.escape(word)}</span>'
            for n, word in enumerate(read[: row + 1])
        )
        words += f'<span class="next">{html.escape(wanted)}</span>'
        words += "".join(
            f'<span class="shut"><s>{html.escape(word)}</s></span>'
            for word in journey.target[row + 1 :]
        )
        lines += f'<div class="line">{words}</div>'
    description = (
        f"{len(read)} lines. In line n the decoder may read the start and the n − 1 words that are "
        "written; then comes the word it must write; the words after it are hatched."
    )
    return scene(
        "seen", lines, question=question, caption=caption, description=description, css=_SEEN_CSS
    )


_SAID_CSS = """
#scene-said .stage{display:grid;grid-template-columns:auto 1fr;gap:.5em 1em;align-items:baseline}
#scene-said .stage .num{text-align:right;opacity:.8}
#scene-said .stage p{margin:0;padding:.3em .8em;border-radius:.2em 1em 1em 1em;
background:color-mix(in srgb,currentColor 7%,transparent)}
#scene-said .right{font-weight:650}
"""


def what_it_said(
    story: Sequence[dict[str, Any]],
    references: Sequence[str],
    *,
    sentences: Sequence[str],
    heading: str = "update",
    question: str = "Ask it to translate",
    caption: str = "Figure 0.12. One training, asked again and again. Bold: words that stand in "
    "the right translation.",
) -> Scene:
    """Return the translations of two sentences after more and more updates."""
    lines = f'<small class="dim">{heading}</small><i></i>'
    for moment in story:
        lines += f'<span class="num">{moment["update"]}</span><div>'
        for n, said in enumerate(moment["translations"]):
            lines += f"<p{at(n, first=0)}>{_marked(said, references[n])}</p>"
        lines += "</div>"
    description = "; ".join(
        f"after {moment['update']} updates: {moment['translations'][0] or 'nothing'}"
        for moment in story
    )
    return scene(
        "said",
        lines,
        caption=caption,
        description=description,
        question=question,
        choices=[f"<i>{html.escape(text)}</i>" for text in sentences],
        css=_SAID_CSS,
    )


def _marked(said: str, reference: str) -> str:
    right = set(reference.rstrip(".").split())
    words = [
        f'<span class="right" style="border-bottom:3px solid {OUTPUT}">{html.escape(word)}</span>'
        if word.rstrip(".") in right
        else html.escape(word)
        for word in said.split()
    ]
    return " ".join(words) or "…"
