"""What is kept of a word, caches by length, recall by numbers kept, laws of words (chapter 22)."""

import html
from collections.abc import Mapping, Sequence

import altair as alt
import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from walkthrough.ch22_since_2023.cache import MODELS, Published
from walkthrough.drawing.channels import menu, number_slider, point_channels
from walkthrough.drawing.look import KEY, OUTPUT, VALUE
from walkthrough.drawing.scene import Scene, at, scene, strip
from walkthrough.drawing.style import CATEGORIES, PALETTE, described, wrapped

N_HEADS, D_HEAD, WINDOW = 4, 4, 3
FIRST = 0
_CSS = """
#scene-kept .rows{display:grid;grid-template-columns:auto 1fr;gap:.5em .8em;align-items:center}
#scene-kept .rows b{font-weight:500;text-align:right}
#scene-kept :is(.word,.state){height:1.7em;display:grid;align-items:center}
#scene-kept :is(.word,.state)>div{grid-area:1/1}
#scene-kept :is(.word,.state)>div>span{display:grid;grid-template-columns:repeat(8,1fr);gap:3px}
#scene-kept .gone{margin:0;opacity:.75;border-bottom:1.5px dashed currentColor;height:1px}
"""


def what_is_kept(
    words: Sequence[str],
    key: Float[Tensor, "words heads d_head"],
    value: Float[Tensor, "words heads d_head"],
) -> Scene:
    """Return what five ways of attention keep of each word, a stripe a number, and the count."""
    n_words, n_heads, d_head = key.shape
    groups = [x.unflatten(1, (2, -1)).mean(2) for x in (key, value)]
    latent = torch.cat([key.mean(1), value.mean(1)], dim=-1)
    total = torch.einsum("wha,whb->hab", key, value)
    per_word = 2 * n_heads * d_head
    counts = (
        n_words * per_word,
        n_words * 4 * d_head,
        n_words * latent.shape[-1],
        WINDOW * per_word,
        total.numel(),
    )
    rows, nothing = "", '<p class="gone"></p>'
    for n, word in enumerate(words):
        whole = _strips(key[n], KEY) + _strips(value[n], VALUE)
        shown = [
            whole,
            _strips(groups[0][n], KEY) + _strips(groups[1][n], VALUE),
            _strips(latent[n].view(2, d_head), OUTPUT),
            whole if n >= n_words - WINDOW else "",
            "",
        ]
        cells = "".join(
            f"<div{at(k, first=FIRST)}>{f'<span>{part}</span>' if part else nothing}</div>"
            for k, part in enumerate(shown)
        )
        rows += f'<b>{html.escape(word)}</b><div class="word">{cells}</div>'
    state = _strips(total.flatten().view(8, -1), OUTPUT)
    rows += (
        f'<b>all of them</b><div class="state"><div{at(4, first=FIRST)}><span>{state}</span></div>'
        f"<div{at(0, 1, 2, 3, first=FIRST)}>{nothing}</div></div>"
    )
    told = (
        f"{n_heads} heads with a key and a value each: {per_word} numbers a word",
        "two heads share a key and a value",
        "one short vector, from which every head makes its own key and value",
        f"the last {WINDOW} words whole, older ones not at all",
        "no word for itself: each head adds key times value to one matrix",
    )
    grows = ("more with every word",) * 3 + ("and it stays at that",) * 2
    says = [
        f"{a}. {count} numbers in all, {b}."
        for a, count, b in zip(told, counts, grows, strict=True)
    ]
    says = [text[0].upper() + text[1:] for text in says]
    return scene(
        "kept",
        f'<div class="rows">{rows}</div>',
        question="What is kept of what was read?",
        choices=("every head", "two groups", "a latent vector", "a window of three", "one sum"),
        says=says,
        first=FIRST,
        css=_CSS,
    )


def _strips(vectors: Float[Tensor, "n d"], ink: str) -> str:
    return "".join(strip(vector, ink, reach=2.5) for vector in vectors)


def cache_explorer(
    models: Sequence[Published] = MODELS,
    *,
    title: str = "What has to be kept of a text, and read again for every word",
) -> alt.LayerChart:
    """Return the cache of published models as bars; a slider sets the length of the text."""
    rows = [
        {
            "model": model.name,
            "mb": model.megabytes,
            "window": model.window or 1e9,
        }
        for model in models
    ]
    chart = alt.Chart(alt.Data(values=rows)).transform_calculate(
        gb="datum.mb * min(pow(2, power), datum.window) / 1000",
        label="format(datum.gb, '.3~g') + ' GB'",
    )
    y = alt.Y("model:N", sort=None, title=None)
    x = alt.X(
        "gb:Q",
        title="GB kept, 16 bits a number (logarithmic)",
        scale=alt.Scale(type="log", domain=[0.05, 3000], clamp=True),
        axis=alt.Axis(values=[0.1, 1, 10, 100, 1000], format="~g"),
    )
    words = chart.transform_calculate(
        words="'after ' + format(pow(2, power), ',') + ' tokens'"
    ).transform_filter("datum.model == 'GPT-3'")
    layers = [
        chart.mark_bar(color=PALETTE["green"]).encode(x, y, x2=alt.datum(0.05)),
        chart.mark_text(align="left", dx=4, fontSize=12).encode(x, y, text="label:N"),
        words.mark_text(align="right", fontSize=12, fontWeight=600, dy=-2).encode(
            x=alt.value("width"), y=alt.value(0), text="words:N"
        ),
    ]
    slider = number_slider("power", "tokens read, 2 to the power of ", 17, smallest=8, start=15)
    whole = alt.LayerChart(layer=layers).add_params(slider)
    whole = whole.properties(width="container", height=34 * len(rows), title=wrapped(title))
    told = ", ".join(f"{model.name} {model.gigabytes(2**15):.3g} GB" for model in models)
    return described(whole, f"{title}. Bars, a slider sets the length; 32 768 tokens: {told}.")


def recall_chart(
    runs: pd.DataFrame,
    *,
    title: str = "Facts that come back, by the numbers that are kept",
) -> alt.LayerChart:
    """Return recall over numbers kept, a point a run and a line through the means of each way.

    `runs` has the columns way, numbers, facts, recall; a menu chooses the number of facts.
    """
    rows = runs.round({"recall": 3}).to_dict("records")
    ways = list(dict.fromkeys(runs["way"]))
    counts = sorted(int(n) for n in runs["facts"].unique())
    shown = alt.Chart(alt.Data(values=rows)).transform_filter("datum.facts == facts_read")
    legend = alt.Legend(title=None)
    colour, shape = point_channels("way:N", ways, legend)
    x = alt.X(
        "numbers:Q",
        title="numbers kept when 32 facts are read",
        scale=alt.Scale(type="log", base=2, domain=[100, 2600], nice=False),
        axis=alt.Axis(values=sorted(int(n) for n in runs["numbers"].unique()), format="d"),
    )
    scale, axis = alt.Scale(domain=[0, 1]), alt.Axis(format="%")
    y = alt.Y("recall:Q", title="facts that come back", scale=scale, axis=axis)
    mean = alt.Y("mean(recall):Q", title="facts that come back", scale=scale, axis=axis)
    layers = [
        shown.mark_line(opacity=0.6).encode(x, mean, colour),
        shown.mark_point(filled=True, size=55, opacity=0.75).encode(x, y, colour, shape),
    ]
    chart = alt.LayerChart(layer=layers).add_params(
        menu("facts_read", counts, "facts read ", start=32)
    )
    chart = chart.properties(width="container", height=260, title=wrapped(title))
    means = runs[runs["facts"] == 32].groupby(["way", "numbers"])["recall"].mean()
    told = "; ".join(f"{way} {n}: {share:.0%}" for (way, n), share in means.items())
    return described(
        chart, f"{title}. A menu sets the facts that are read. With 32, means: {told}."
    )


def laws_chart(
    words: Sequence[str],
    laws: Mapping[str, Float[Tensor, " words"]],
    *,
    title: str = "Who says which word, and how often",
) -> alt.Chart:
    """Return several laws over the same words as bars beside each other."""
    rows = [
        {"word": word, "law": name, "p": round(share, 4)}
        for name, law in laws.items()
        for word, share in zip(words, law.tolist(), strict=True)
    ]
    names = list(laws)
    colour = alt.Color(
        "law:N",
        scale=alt.Scale(domain=names, range=CATEGORIES[: len(names)]),
        legend=alt.Legend(title=None),
    )
    chart = (
        alt.Chart(alt.Data(values=rows))
        .mark_bar()
        .encode(
            alt.X("p:Q", title="probability", axis=alt.Axis(format=".1f")),
            alt.Y("word:N", sort=list(words), title=None),
            alt.YOffset("law:N", sort=names),
            colour,
            tooltip=["word:N", "law:N", "p:Q"],
        )
        .properties(width="container", height=14 * len(rows), title=wrapped(title))
    )
    told = "; ".join(
        f"{name}: " + ", ".join(f"{w} {p:.2f}" for w, p in zip(words, law.tolist(), strict=True))
        for name, law in laws.items()
    )
    return described(chart, f"{title}. Bars. {told}.")
