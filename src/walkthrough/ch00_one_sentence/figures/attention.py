"""Step 2: one word asks. Step 3: all heads. Lead and step 7: which words a word looks at."""

import html
from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from walkthrough.ch00_one_sentence.journey import Asking, Journey
from walkthrough.drawing.look import (
    KEY,
    OUTPUT,
    QUERY,
    VALUE,
    VECTOR,
    WEIGHT,
)
from walkthrough.drawing.scene import (
    Scene,
    at,
    button,
    curve,
    framed,
    glides,
    middles,
    scene,
    strip,
)
from walkthrough.drawing.strips import picture
from walkthrough.drawing.style import ink

_LINKS_CSS = """
.links{display:grid;grid-template-columns:auto minmax(5em,1fr) auto;font-size:1.15em}
.links .side{display:flex;flex-direction:column;justify-content:flex-start}
.links .side>*{height:2.5em;display:flex;align-items:center;gap:.5em}
.links .side:first-child>*{justify-content:flex-end}
.links .num{font-size:max(.82em,12px);opacity:.8}
.links label span{padding:.2em .7em}
.links .mid{position:relative;margin:0 1em}
.links .mid svg{position:absolute;inset:0}
.links g{opacity:.25;transition:opacity .35s}
"""


def links(
    name: str,
    weights: Float[Tensor, "target_len source_len"],
    asking: Sequence[str],
    asked: Sequence[str],
    *,
    question: str,
    caption: str,
    first: int,
    thinnest: float = 0.02,
) -> Scene:
    """Return two columns of words; curves as wide as the weights lead from the word chosen."""
    table = weights.tolist()
    most = max(len(asked), len(asking))
    left, right = middles(len(asked), most), middles(len(asking), most)
    paths, marks = "", [""] * len(asked)
    for row, values in enumerate(table):
        drawn = "".join(
            f'<path d="{curve(left[column], right[row])}" stroke="{ink("weight")}" '
            f'stroke-width="{1 + 17 * value:.1f}"/>'
            for column, value in enumerate(values)
            if value >= thinnest
        )
        paths += f'<g class="on-{row}">{drawn}</g>'
        for column, value in enumerate(values):
            marks[column] += f"<span{at(row, first=first, more='num')}>{_short(value)}</span>"
    words = "".join(
        f"<span>{mark}<b>{html.escape(word)}</b></span>"
        for word, mark in zip(asked, marks, strict=True)
    )
    # the words that ask are the buttons
    buttons = "".join(
        button(name, n, html.escape(word), first=first) for n, word in enumerate(asking)
    )
    strongest = ", ".join(
        f"{word} → {asked[values.index(max(values))]} {max(values):.2f}"
        for word, values in zip(asking, table, strict=True)
    )
    description = f"Curves from each word to those it looks at; the widest: {strongest}."
    inside = (
        f'<fieldset class="pick"><legend>{question}</legend><div class="links">'
        f'<div class="side">{words}</div><div class="mid"><svg class="stretch" '
        'viewBox="0 0 100 100" preserveAspectRatio="none" role="img" '
        f'aria-label="{html.escape(description)}">{paths}</svg></div>'
        f'<div class="side">{buttons}</div></div></fieldset>'
    )
    return framed(name, inside, caption=caption, description=description, css=_LINKS_CSS)


def _short(value: float) -> str:
    return f"{value:.2f}".removeprefix("0") if value >= 0.005 else ""


_ASKS_CSS = """
#scene-asks .stage{display:grid;grid-template-columns:auto minmax(4em,1.1fr) minmax(6em,2fr) 3.2em;
gap:.42em .8em;align-items:center}
#scene-asks b{font-weight:600}
#scene-asks .stage>div{display:grid}
#scene-asks .stage>.rail{display:block;position:relative;height:1.5em;
border-left:1px solid color-mix(in srgb,currentColor 40%,transparent)}
#scene-asks .bar{position:absolute;top:.15em;bottom:.15em;left:var(--a);width:var(--b);
border-radius:3px}
#scene-asks .num{text-align:right}
#scene-asks .top{padding-bottom:.5em;border-bottom:1px solid
color-mix(in srgb,currentColor 22%,transparent)}
#scene-asks .rail.mid{border:0}
"""


def one_word_asks(
    journey: Journey,
    asking: Asking,
    word: int,
    *,
    choices: Sequence[str] = (
        "1 q · k",
        "2 ÷ √{d}",
        "3 mask",
        "4 softmax",
        "5 × values",
        "6 sum",
    ),
    says: Sequence[str] = (
        "The query of <i>{word}</i> is multiplied with every key. The best fit: <i>{best}</i>, "
        "{product:.1f}.",
        "Divided by √{d} ≈ {root:.2f}, the sums stay moderate whatever the size of the vectors.",
        "A mask would close words that may not be seen. Here none is closed: the whole sentence is "
        "known.",
        "Softmax turns the scores into weights: none below zero, together 1. <i>{best}</i> gets "
        "{weight:.2f}.",
        "Every word hands over its value, as strong as its weight.",
        "Added up: {d} numbers that hold mostly what <i>{best}</i> had to say.",
    ),
    asks: str = "One head of the first layer, one word that asks.",
    caption: str = "Figure 0.3. {asks} "
    '<span style="color:{query}">■</span> query <span style="color:{key}">■</span> keys '
    '<span style="color:{weight}">■</span> weights <span style="color:{value}">■</span> values '
    '<span style="color:{output}">■</span> output',
) -> Scene:
    """Return the row of one query, from products to the sum of values, a button a step."""
    d_k = asking.query.shape[1]
    best = int(asking.weights[word].argmax())
    facts = {
        "word": html.escape(journey.source[word]),
        "best": html.escape(journey.source[best]),
        "d": d_k,
        "root": d_k**0.5,
        "product": float(asking.products[word, best]),
        "weight": float(asking.weights[word, best]),
    }
    inks = {"query": QUERY, "key": KEY, "weight": WEIGHT, "value": VALUE, "output": OUTPUT}
    body = _query_row(journey, asking, word) + "".join(
        _key_row(journey, asking, word, n) for n in range(len(journey.source))
    )
    weights = ", ".join(
        f"{journey.source[n]} {value:.2f}" for n, value in enumerate(asking.weights[word].tolist())
    )
    return scene(
        "asks",
        body + _sum_row(asking, word),
        caption=caption.format(asks=asks, **inks),
        first=3,
        description=f"The word {journey.source[word]} asks all words; its weights: {weights}.",
        choices=[words.format(**facts) for words in choices],
        says=[words.format(**facts) for words in says],
        css=_ASKS_CSS,
    )


def _query_row(journey: Journey, asking: Asking, word: int) -> str:
    reach = float(torch.cat([asking.query, asking.key]).abs().max()) * 0.7
    shown = strip(asking.query[word], QUERY, reach=reach, attributes='class="strip top-strip"')
    name = f'<b style="border-bottom:3px solid {QUERY}">{html.escape(journey.source[word])}</b>'
    return name + shown + "<small>asks every word:</small><i></i>"


def _key_row(journey: Journey, asking: Asking, word: int, n: int) -> str:
    reach = float(torch.cat([asking.query, asking.key]).abs().max()) * 0.7
    spread = float(asking.value.abs().max()) * 0.7
    product, score, weight = (
        float(part[word, n]) for part in (asking.products, asking.scores, asking.weights)
    )
    most = float(asking.products[word].abs().max())
    lefts, widths = [], []
    for number in (product, score, score):
        size = abs(number) / most * 50
        lefts.append(f"{50 - size if number < 0 else 50:.1f}%")
        widths.append(f"{size:.1f}%")
    lefts += ["0%"] * 3
    widths += [f"{weight * 100:.1f}%"] * 3
    key = strip(asking.key[n], KEY, reach=reach, attributes=at(0, 1, 2, 3, first=3, more="strip"))
    value = strip(
        asking.value[n],
        VALUE,
        reach=spread / max(weight, 0.04) * 0.5,
        attributes=at(4, 5, first=3, more="strip"),
    )
    numbers = "".join(
        f"<span{at(*frames, first=3, more='num')}>{text}</span>"
        for frames, text in (
            ((0,), _signed(f"{product:.1f}")),
            ((1, 2), _signed(f"{score:.2f}")),
            ((3, 4, 5), f"{weight:.2f}"),
        )
    )
    bar = f'<i class="bar glides" style="background:{WEIGHT};{glides(lefts, widths)}"></i>'
    return (
        f"<b>{html.escape(journey.source[n])}</b><div>{key}{value}</div>"
        f'<div class="rail">{bar}</div><div class="num">{numbers}</div>'
    )


def _signed(number: str) -> str:
    return number.replace("-", "−")


def _sum_row(asking: Asking, word: int) -> str:
    spread = float(asking.value.abs().max()) * 0.7
    shown = strip(
        asking.output[word], OUTPUT, reach=spread, attributes=at(5, first=3, more="strip")
    )
    name = f'<b{at(5, first=3)} style="border-bottom:3px solid {OUTPUT}">Σ</b>'
    hold = f"<i{at(0, 1, 2, 3, 4, first=3)}></i>"
    return f'{name}{hold}<div style="min-height:1.5em">{shown}</div><i></i><i></i>'


_CHANGED_CSS = """
#scene-changed .stage{display:grid;grid-template-columns:auto 1fr;gap:.5em .9em;align-items:center}
"""


def what_the_sum_does(
    journey: Journey,
    word: int,
    *,
    names: Sequence[str] = ("before", "what is added", "after layer norm"),
    caption: str = "Figure 0.4. The vector of <i>{word}</i> before and after the first attention. "
    "Their directions agree to {same:.2f}, where 1 is the same and 0 has nothing in common.",
) -> Scene:
    """Return a word's vector before the first attention, what is added, and what comes out."""
    before, after = journey.stages[0, word], journey.stages[1, word]
    same = float(torch.cosine_similarity(before, after, dim=0))
    reach = float(before.abs().max()) * 0.7
    vectors = (before, journey.added[word], after)
    rows = "".join(
        f"<span>{name}</span>" + strip(vector, ink, reach=reach)
        for name, vector, ink in zip(names, vectors, (VECTOR, OUTPUT, VECTOR), strict=True)
    )
    return scene(
        "changed",
        rows,
        css=_CHANGED_CSS,
        caption=caption.format(word=html.escape(journey.source[word]), same=same),
        description=f"Three bar codes of {before.shape[0]} stripes: before, added, after.",
    )


_HEADS_CSS = """
#scene-heads .stage{display:grid;grid-template-columns:auto repeat(var(--n),minmax(1.4em,1fr));
gap:2px;align-items:center}
#scene-heads small{align-self:end;justify-self:end;padding:0 .6em .3em 0;opacity:.8}
#scene-heads .stage b{font-weight:500;padding-right:.5em;text-align:right}
#scene-heads .stage em{font-style:normal;writing-mode:vertical-rl;transform:rotate(180deg);
justify-self:center;padding-top:.3em}
#scene-heads .cell{height:2.3em;border-radius:3px;background:#0072b2;opacity:var(--a)}
#scene-heads .icon{display:block;width:3.1em;height:3.1em;image-rendering:pixelated;
background-size:100% 100%;margin:.1em}
#scene-heads label span{border-radius:8px;padding:.3em .4em;text-align:center;
font-size:max(.9em,12px)}
"""


def all_heads(
    journey: Journey,
    *,
    name: str = "layer {layer}, head {head}",
    question: str = "Choose a head of the encoder",
    corner: str = "asks ↓<br>asked →",
    first: int = 1,
    caption: str = "Figure 0.5. The {n} heads of the encoder. Each line is a word that asks, each "
    "column a word that is asked; the darker, the more weight.",
) -> Scene:
    """Return a small map of every encoder head, and the chosen one large, with its words."""
    maps = journey.maps.encoder[:, 0]
    flat = maps.flatten(0, 1)
    n_heads = maps.shape[1]
    words = list(map(html.escape, journey.source))
    body = f"<small>{corner}</small>" + "".join(f"<em>{word}</em>" for word in words)
    for row, word in enumerate(words):
        body += f"<b>{word}</b>"
        for column in range(len(words)):
            values = [f"{max(value, 0.04):.2f}" for value in flat[:, row, column].tolist()]
            body += f'<i class="cell glides" style="{glides(values)}"></i>'
    choices = [
        f'<i class="icon" style="background-image:url({picture(one.double().numpy(), WEIGHT)})">'
        f"</i>{number // n_heads + 1}.{number % n_heads + 1}"
        for number, one in enumerate(flat)
    ]
    says = [_strongest(one.tolist(), words) for one in flat]
    shown = scene(
        "heads",
        body,
        caption=caption.format(n=len(flat)),
        question=question,
        first=first,
        description=f"{len(flat)} maps of {len(words)} by {len(words)} weights. "
        + " ".join(says).replace("<i>", "").replace("</i>", ""),
        choices=choices,
        says=says,
        css=_HEADS_CSS,
    )
    return Scene(
        shown.markup.replace('class="stage"', f'class="stage" style="--n:{len(words)}"', 1),
        shown.caption,
        shown.description,
    )


def _strongest(table: Sequence[Sequence[float]], words: Sequence[str]) -> str:
    found = sorted(
        (
            (value, row, column)
            for row, line in enumerate(table)
            for column, value in enumerate(line)
            if row != column
        ),
        reverse=True,
    )[:3]
    looks = ", ".join(f"<i>{words[r]}</i> → <i>{words[c]}</i> {value:.2f}" for value, r, c in found)
    return f"Its strongest looks at another word: {looks}."
