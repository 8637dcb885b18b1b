"""Six predictions of a trained translator, and its way to the source to cut (§3.1)."""

import html
from collections.abc import Sequence

from jaxtyping import Float
from torch import Tensor

from walkthrough.drawing.look import KEY, OUTPUT, QUERY
from walkthrough.drawing.scene import Scene, at, cells, glides, scene, strip

CUTS = ((), (0,), (1,), (0, 1))
"""In which decoder layers the attention to the memory is silent, a frame each."""
CHOICES = ("nowhere", "in layer 1", "in layer 2", "in both layers")
SAYS = (
    "{right} of {n} are right. Each row reads its word and all before it, and predicts the next.",
    "{right} of {n} are right. Layer 2 still reads the memory.",
    "{right} of {n} are right. What layer 1 has read is not enough.",
    "{right} of {n} are right. Nothing of the French gets through: this is English alone.",
)

_CSS = f"""
#scene-cut .stage{{display:grid;grid-template-columns:auto minmax(1em,1fr) auto auto;height:17em}}
#scene-cut .col{{display:grid;grid-template-rows:1.9em repeat(var(--n),1fr);align-items:center}}
#scene-cut small{{font-size:1em;opacity:.75;white-space:nowrap}}
#scene-cut .said{{grid-template-columns:auto auto auto;column-gap:.4em;padding-left:.5em}}
#scene-cut .said>*{{white-space:nowrap}}
#scene-cut .said small:last-of-type{{font-size:0}}
#scene-cut .word{{display:grid;grid-template-columns:auto .9em;column-gap:.3em;
align-items:center;text-align:right}}
#scene-cut .p{{display:flex;align-items:center;gap:.4em}}
#scene-cut .bar{{display:none;height:1.25em;border-radius:3px;background:{OUTPUT}}}
#scene-cut .off{{font-weight:500;font-style:italic;text-decoration:underline wavy 1px;
text-underline-offset:.2em}}
#scene-cut .wires{{position:relative;margin-top:1.9em}}
#scene-cut .wires svg{{position:absolute;inset:0}}
#scene-cut path{{stroke:{KEY};stroke-width:9;opacity:var(--a,var(--z))}}
#scene-cut .layers{{display:grid;grid-template-rows:1fr auto 1fr;margin-top:1.9em;
text-align:center;line-height:1.1}}
#scene-cut .layers b{{display:grid;align-items:center;padding:0 .45em;font-weight:600;
border-radius:8px;border:1.5px solid {QUERY};background:color-mix(in srgb,{QUERY} 12%,transparent)}}
@container(min-width:700px){{#scene-cut .word{{grid-template-columns:auto 7em;column-gap:.5em}}
#scene-cut .layers b{{padding:0 .8em}}
#scene-cut .said{{grid-template-columns:5.8em 6.2em 10em;column-gap:.6em;padding-left:1.2em}}
#scene-cut .said small:last-of-type{{font-size:1em}}
#scene-cut .bar{{display:block;width:calc(var(--p)*7em)}}}}
"""


def cut_memory(
    source: Sequence[str],
    memory: Float[Tensor, "source_len d_model"],
    reads: Sequence[str],
    predicted: Sequence[Sequence[tuple[str, float]]],
    right: Sequence[str],
    *,
    question: str = "Where is the line from the memory to the decoder cut?",
    first: int = 0,
) -> Scene:
    """Return the memory, the two layers that read it, and the likeliest next word of every row.

    `predicted[frame][row]` is a word and its probability, a frame for each of `CUTS`.

    Raises:
        ValueError: the frames are not four, or rows do not fit.
    """
    lengths = {len(rows) for rows in (*predicted, right)}
    if len(predicted) != len(CUTS) or lengths != {len(reads)}:
        raise ValueError(
            f"{len(CUTS)} frames of {len(reads)} rows are needed, got {len(predicted)} of {lengths}"
        )
    reach = float(memory.abs().max()) / 2
    words = cells(
        source,
        lambda n, word: (
            f'<div class="word"><span>{word}</span>{strip(memory[n], KEY, reach=reach)}</div>'
        ),
    )
    rows = ""
    for row, word in enumerate(reads):
        rows += f"<span>{html.escape(word)}</span>"
        shown = [(*frame[row], right[row]) for frame in predicted]
        rows += "".join(
            f"<b{at(n, first=first, more='' if said == hit else 'off')}>{html.escape(said)}</b>"
            for n, (said, _, hit) in enumerate(shown)
        )
        rows += "".join(
            f'<span{at(n, first=first)}><span class="p num"><i class="bar" style="--p:{p:.2f}">'
            f"</i>{p:.2f}</span></span>"
            for n, (_, p, _) in enumerate(shown)
        )
    counts = [
        sum(said == hit for (said, _), hit in zip(frame, right, strict=True)) for frame in predicted
    ]
    return scene(
        "cut",
        f'<div class="col" style="--n:{len(source)}"><small>memory</small>{words}</div>'
        f'<div class="wires">{_wires(first)}</div>'
        '<div class="layers"><b>layer 2</b>↑<b>layer 1</b></div>'
        f'<div class="col said" style="--n:{len(reads)}"><small>reads</small><small>predicts'
        f"</small><small>probability</small>{rows}</div>",
        question=question,
        choices=CHOICES,
        says=[
            text.format(right=count, n=len(reads)) for text, count in zip(SAYS, counts, strict=True)
        ],
        first=first,
        css=_CSS,
    )


def _wires(first: int) -> str:
    """A bracket around the memory, and a broad line to each layer; a cut one leaves a trace."""
    drawn = '<path style="--z:0.8;stroke-width:3" d="M0 1H5V99H0"/>'
    for layer, height in enumerate((77, 23)):
        strengths = ["0.08" if layer in cut else "0.8" for cut in CUTS]
        style = f"--z:{strengths[first]};{glides(strengths)}"
        drawn += f'<path class="glides" style="{style}" d="M5 50C50 50 50 {height} 100 {height}"/>'
    return (
        '<svg class="stretch" viewBox="0 0 100 100" preserveAspectRatio="none" '
        f'aria-hidden="true">{drawn}</svg>'
    )
