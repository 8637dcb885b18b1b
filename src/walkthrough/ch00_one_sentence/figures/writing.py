"""Step 8: scores of all words, and the next one. Step 9: the loop that writes."""

import html
from collections.abc import Sequence

from walkthrough.ch00_one_sentence.journey import START, Journey
from walkthrough.drawing.look import OUTPUT
from walkthrough.drawing.scene import Scene, at, glides, scene

_SCORES_CSS = """
#scene-next .rug{position:relative;height:4.6em;margin-bottom:1.2em}
#scene-next .rug path{stroke-width:1.2;opacity:.5}
#scene-next .won{position:absolute;top:0;left:var(--a);transform:translateX(-100%);
padding-right:.5em;font-weight:650}
#scene-next .mark{position:absolute;bottom:0;height:3.4em;width:4px;margin-left:-2px;left:var(--a);
border-radius:2px}
#scene-next .list{display:grid;grid-template-columns:auto 1fr auto;gap:.35em .8em;
align-items:center}
#scene-next .list .rail{height:1.1em;border-left:1px solid}
#scene-next .list .rail i{display:block;height:100%;min-width:2px;border-radius:3px}
"""


def next_word(
    journey: Journey,
    words: Sequence[str],
    *,
    n_best: int = 4,
    question: str = "After which word?",
    above: str = "scores of all {n} words",
    below: str = "… and after softmax",
    caption: str = "Figure 0.10. Above, a line for each word of the list, the further right the "
    "better it fits. Below, the likeliest as probabilities.",
    first: int = 3,
) -> Scene:
    """Return the scores of all words as lines, and the best as probabilities, after each word."""
    logits, probabilities = journey.logits, journey.probabilities
    low, high = float(logits.min()), float(logits.max())
    places = ((logits - low) / (high - low) * 98 + 1).tolist()
    rug, lists, won = "", "", []
    for row, scores in enumerate(places):
        lines = "".join(f"M{x:.1f} 30V100" for x in scores)
        rug += f'<path{at(row, first=first)} stroke="currentColor" d="{lines}"/>'
        best = probabilities[row].topk(n_best)
        bars = "".join(
            f'<span>{html.escape(words[n])}</span><span class="rail"><i style="background:{OUTPUT};'
            f'width:{value * 100:.2f}%"></i></span><span class="num">{_percent(value)}</span>'
            for value, n in zip(best.values.tolist(), best.indices.tolist(), strict=True)
        )
        lists += f'<div{at(row, first=first)}><div class="list">{bars}</div></div>'
        won.append(max(scores))
    names = "".join(
        f"<span{at(row, first=first)}>{html.escape(word)}</span>"
        for row, word in enumerate(journey.target)
    )
    ends = glides([f"{x:.1f}%" for x in won])
    stage = (
        f'<small class="dim">{above.format(n=logits.shape[1])}</small><div class="rug">'
        '<svg class="stretch" viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">'
        f'{rug}</svg><i class="mark glides" style="background:{OUTPUT};{ends}"></i>'
        f'<span class="won glides" style="{ends}">{names}</span></div>'
        f'<small class="dim">{below}</small>{lists}'
    )
    chosen = ", ".join(
        f"{word} {float(row.max()):.2f}"
        for word, row in zip(journey.target, probabilities, strict=True)
    )
    return scene(
        "next",
        stage,
        caption=caption,
        question=question,
        first=first,
        css=_SCORES_CSS,
        choices=[html.escape(word) for word in (START, *journey.target[:-1])],
        description=f"The likeliest next words with their probabilities: {chosen}.",
    )


def _percent(value: float) -> str:
    return f"{value:.1%}" if value >= 0.01 else f"{value:.2%}"


_LOOP_CSS = """
#scene-loop .stage{display:grid;grid-template-columns:1fr 2.4em;gap:.5em .3em}
#scene-loop .stage>*{grid-column:1}
#scene-loop small{margin-bottom:-.3em}
#scene-loop .stage>.back{grid-column:2;grid-row:2/6;margin:1em 0;border:2.5px solid;border-left:0;
border-radius:0 1.4em 1.4em 0;position:relative;opacity:.75}
#scene-loop .back::before{content:"";position:absolute;left:-.3em;top:-.55em;
border:.5em solid transparent;border-right-color:currentColor;border-left:0}
#scene-loop .line{display:flex;flex-wrap:wrap;gap:.3em;min-height:2.1em;align-items:center}
#scene-loop .line span{padding:.3em .6em;border-radius:6px;
box-shadow:inset 0 0 0 1px color-mix(in srgb,currentColor 28%,transparent)}
#scene-loop .new{font-weight:650}
#scene-loop .model{text-align:center;padding:.8em;border-radius:10px;
background:color-mix(in srgb,currentColor 8%,transparent)}
"""


def the_loop(
    journey: Journey,
    *,
    question: str = "Drag: the model writes",
    reads: str = "the decoder reads",
    model: str = "the decoder, which looks across at <i>{source}</i>",
    writes: str = "and writes",
    caption: str = "Figure 0.11. Each word that is written is read in the next round.",
) -> Scene:
    """Return the loop of writing, with a slider over its rounds."""
    last = len(journey.target) - 1
    read = [START, *journey.target[:-1]]
    likely = journey.probabilities.max(dim=1).values.tolist()
    above = "".join(
        f"<span{at(*range(n, last + 1), first=last)}>{html.escape(word)}</span>"
        for n, word in enumerate(read)
    )
    written = "".join(
        f'<span{at(n, first=last, more="new")} style="border-bottom:3px solid {OUTPUT}">'
        f"{html.escape(word)} {_percent(likely[n])}</span>"
        for n, word in enumerate(journey.target)
    )
    source = html.escape(" ".join(journey.source[:-1]).replace("' ", "'"))
    stage = (
        f'<small>{reads}</small><div class="line">{above}</div>'
        f'<div class="model">{model.format(source=source)}</div>'
        f'<small>{writes}</small><div class="line">{written}</div><div class="back"></div>'
    )
    return scene(
        "loop",
        stage,
        caption=caption,
        question=question,
        slider=True,
        first=last,
        css=_LOOP_CSS,
        choices=[str(n + 1) for n in range(last + 1)],
        description="Rounds of writing: " + ", ".join(journey.target),
    )
