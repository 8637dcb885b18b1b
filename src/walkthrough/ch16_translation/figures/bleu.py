"""BLEU as figures: the shadow of a wrong word, and translations scored in many ways (§6.1)."""

import html
from collections.abc import Mapping, Sequence

import altair as alt

from transformer.analysis.bleu import brevity_penalty, clipped_matches, corpus_bleu, ngram_counts
from walkthrough.drawing.look import HATCH
from walkthrough.drawing.scene import Scene, at, scene
from walkthrough.drawing.style import PALETTE, described, wrapped

MATCHED, CLIPPED, MISSING = "in the reference", "used up", "not in the reference"
KINDS = {MATCHED: "hit", CLIPPED: "used", MISSING: "no"}
LENGTHS = {1: "words", 2: "pairs", 3: "threes", 4: "fours"}
CASES = {
    "words that repeat": ("the the the cat .", "the cat sees the dog .", "The third is used up."),
    "pairs that repeat": (
        "a cat and a cat and a dog .",
        "and a cat and a dog runs .",
        "Two pairs come twice, and the reference has them once.",
    ),
    "alike when joined": (
        "he is no where",
        "he is now here",
        "Joined to one text, the last two words would be the same.",
    ),
}
"""Three cases of the first exercise's check, as `shadows` draws them."""
_CSS = f"""
.scene .runs{{display:grid;gap:4px 0;justify-content:start;align-items:center;
grid-template-columns:repeat(var(--n),auto) auto;min-height:9em}}
.scene .runs b{{font-weight:500;text-align:center;padding:0 .3em}}
.scene .runs small{{grid-column:-2;font-size:1em;padding-left:.7em;white-space:nowrap}}
.scene .runs i{{height:1.35em;margin:0 2px;border-radius:4px}}
.scene .hit{{background:{PALETTE["blue"]}}}
.scene .used{{background:{PALETTE["ochre"]}}}
.scene .no{{background:{HATCH}}}
.scene .ref{{margin:0 0 .8em}}
.scene:has(.runs) .says{{min-height:5.4em}}
@container(min-width:620px){{.scene .runs b{{padding:0 .8em}}
.scene:has(.runs) .says{{min-height:2.7em}}}}
"""


def shadows(
    translations: Mapping[str, tuple[str, str, str]],
    *,
    name: str = "runs",
    question: str = "What did the model write?",
    first: int = 0,
) -> Scene:
    """Return, for a translation that buttons choose, which of its runs of words the reference has.

    `translations` are by name the words, those of the reference, and a remark. Below the words
    stands a line for each length of run; a run stands under the middle of its words, so what a
    wrong word breaks is a triangle.

    Raises:
        ValueError: no translation, or one without words.
    """
    if not translations or not all(text.split() for text, *_ in translations.values()):
        raise ValueError("the picture needs translations with at least one word each")
    stage, says = "", []
    for n, (text, reference, remark) in enumerate(translations.values()):
        words, wanted = text.split(), reference.split()
        columns = "".join(
            f'<b style="grid-column:{2 * place + 1}/span 2">{html.escape(word)}</b>'
            for place, word in enumerate(words)
        )
        for length in LENGTHS:
            columns += _line(words, wanted, length)
        grid = f'<div class="runs" style="--n:{2 * len(words)}">{columns}</div>'
        told = f'<p class="ref">reference: <b>{html.escape(reference)}</b></p>'
        stage += f"<div{at(n, first=first)}>{told}{grid}</div>"
        bleu = corpus_bleu([words], [wanted])
        penalty = brevity_penalty(len(words), len(wanted))
        says.append(
            f"<b>BLEU {bleu:.1f}</b>, with a brevity penalty of {penalty:.2f}. "
            + html.escape(remark)
        )
    names = [html.escape(shown) for shown in translations]
    return scene(name, stage, question=question, choices=names, first=first, says=says, css=_CSS)


def states(words: Sequence[str], reference: Sequence[str], n: int) -> list[str]:
    """Return for each run of n words whether the reference has it, and has it still."""
    left = ngram_counts(reference, n)
    known, found = set(left), []
    for start in range(len(words) - n + 1):
        run = tuple(words[start : start + n])
        found.append(MATCHED if left[run] > 0 else CLIPPED if run in known else MISSING)
        left[run] -= 1
    return found


def _line(words: Sequence[str], reference: Sequence[str], n: int) -> str:
    cells = "".join(
        f'<i class="{KINDS[state]}" style="grid-area:{n + 1}/{2 * start + n}/auto/span 2" '
        f'title="{html.escape(" ".join(words[start : start + n]))}: {state}"></i>'
        for start, state in enumerate(states(words, reference, n))
    )
    total = max(len(words) - n + 1, 0)
    count = f"{clipped_matches(words, reference, n)} of {total} {LENGTHS[n]}"
    return f'{cells}<small style="grid-row:{n + 1}">{count}</small>'


def ways_chart(
    scores: Mapping[str, float],
    *,
    agreed: str,
    title: str = "One model, 300 sentences, many numbers that are called BLEU",
    x_title: str = "score in percent",
    description: str | None = None,
) -> alt.LayerChart:
    """Return one bar a way to score, the agreed way in colour, and the number at its end.

    Raises:
        ValueError: the agreed way is not among the scores.
    """
    if agreed not in scores:
        raise ValueError(f"agreed must be one of {list(scores)}, got {agreed!r}")
    rows = [
        {"way": way, "score": round(value, 2), "kind": "agreed" if way == agreed else "other"}
        for way, value in scores.items()
    ]
    base = alt.Chart(alt.Data(values=rows))
    y = alt.Y("way:N", sort=list(scores), axis=None)
    x = alt.X("score:Q", title=x_title, scale=alt.Scale(domain=[0, 100]))
    colour = alt.Color(
        "kind:N",
        scale=alt.Scale(domain=["agreed", "other"], range=[PALETTE["vermilion"], PALETTE["grey"]]),
        legend=None,
    )
    bars = base.mark_bar(height=9, yOffset=9).encode(x, y, colour, tooltip=["way:N", "score:Q"])
    words = base.mark_text(align="left", baseline="bottom", fontSize=12, dy=1).encode(
        y=y, x=alt.value(0), text="way:N"
    )
    numbers = base.mark_text(align="left", dx=4, dy=9, fontSize=11).encode(
        x, y, text=alt.Text("score:Q", format=".1f")
    )
    rule = alt.Chart(alt.Data(values=[{"score": round(scores[agreed], 2)}]))
    line = rule.mark_rule(strokeDash=[4, 4], color=PALETTE["vermilion"]).encode(x="score:Q")
    chart = alt.LayerChart(layer=[bars, line, words, numbers]).properties(
        width="container", height=alt.Step(36), title=wrapped(title)
    )
    listed = "; ".join(f"{way}: {value:.1f}" for way, value in scores.items())
    return described(chart, description or f"{title}. {listed}. Agreed on is: {agreed}.")
