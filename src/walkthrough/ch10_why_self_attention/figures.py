"""Layers as graphs that fill in time, and what they cost over length and width (§4)."""

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import altair as alt
import torch

from transformer.analysis.cost import layer_cost
from transformer.masks import neighbourhood_mask
from walkthrough.ch10_why_self_attention.experiments.wiring import (
    Kind,
    Wiring,
    layers_needed,
    shortest_way,
    steps,
    wiring,
)
from walkthrough.drawing.channels import line_channels, menu
from walkthrough.drawing.grids import Grid, grids
from walkthrough.drawing.lines import Series, check_series
from walkthrough.drawing.look import VECTOR
from walkthrough.drawing.scene import Scene, at, scene
from walkthrough.drawing.style import PALETTE, described, wrapped

WAY, PLACE = PALETTE["vermilion"], PALETTE["blue"]
TICK = 0.6  # seconds that a tick lasts in the picture

_CSS = f"""
.net{{position:relative;height:12em}}
.net svg{{position:absolute;inset:0}}
.net path{{stroke:currentColor;stroke-width:1.5;opacity:.4}}
.net path.way{{stroke:{WAY};stroke-width:4.5;opacity:1}}
.net b{{position:absolute;width:1.75em;height:1.75em;margin:-.875em;border-radius:50%;
line-height:1.75em;text-align:center;font-weight:600;color:#fff;background:{PLACE}}}
.net b.given{{background:{VECTOR}}}
.net-words{{display:flex;margin-top:-.2em}}
.net-words span{{flex:1;min-width:0;text-align:center;font-weight:600}}
.ticks>p{{display:flex;align-items:center;gap:.3em;margin:.9em 0 0}}
.ticks em{{font-style:normal;padding-right:.5em}}
.ticks i{{flex:0 1 2.4em;line-height:1.7em;text-align:center;font-style:normal;border-radius:4px;
color:#fff;background:{PLACE}}}
.later{{animation:arrives .35s calc((var(--t) - 1)*{TICK}s) backwards}}
@keyframes arrives{{from{{opacity:.08}}}}
"""


PRODUCTS: Mapping[Kind, int] = {
    "self-attention": 2,
    "restricted": 2,
    "recurrent": 1,
    "convolutional": 1,
    "dilated": 1,
}
"""How many products follow one another at a place of one layer: in attention scores, then sums."""


@dataclass(frozen=True, kw_only=True)
class Stack:
    """A stack of layers as a graph. In each layer `products` follow one another at a place.

    `work` is the number of multiplications of the whole stack, if it is told.
    """

    reads: Wiring
    products: int = 1
    work: int | None = None

    @property
    def n_layers(self) -> int:
        """The highest layer; layer 0 is the input."""
        return max(layer for layer, _ in self.reads)

    @property
    def n(self) -> int:
        """The number of words."""
        return 1 + max(position for _, position in self.reads)

    def ticks(self) -> dict[tuple[int, int], int]:
        """Return the tick at which each place is ready: a product of matrices takes one."""
        return {place: self.products * step for place, step in steps(self.reads).items()}

    def way(self) -> list[tuple[int, int]]:
        """Return a shortest way from the first word to the last output."""
        return shortest_way(self.reads, (0, 0), (self.n_layers, self.n - 1))


def stack(kind: Kind, n: int, *, r: int = 3, width: int | None = None) -> Stack:
    """Return as many layers as it takes to connect n words, k = 3; with a width, their work too."""
    n_layers = layers_needed(kind, n=n, r=r)
    work = None
    if width is not None:
        products = 2 if kind == "recurrent" else PRODUCTS[kind]  # Wx and Wh do not wait
        work = n_layers * products * layer_cost(kind, n=n, d=width, k=3, r=r).operations
    reads = wiring(kind, n=n, n_layers=n_layers, r=r)
    return Stack(reads=reads, products=PRODUCTS[kind], work=work)


def wired(
    name: str, words: Sequence[str], stacks: Mapping[str, Stack], *, question: str, time: str
) -> Scene:
    """Return one graph at a time that fills tick by tick, with the way from end to end marked.

    `time` is what stands before the ticks. A place carries the tick at which it is ready; with two
    products in a layer the edges (the scores) come a tick before it.

    Raises:
        ValueError: a graph has another number of words.
    """
    for kind, stack in stacks.items():
        if stack.n != len(words):
            raise ValueError(f"{kind} has {stack.n} places for {len(words)} words")
    stage, says = "", []
    for frame, (kind, stack) in enumerate(stacks.items()):
        last = max(stack.ticks().values())
        boxes = "".join(f'<i class="later" style="--t:{t}">{t}</i>' for t in range(1, last + 1))
        stage += f"<div{at(frame, first=0)}>{_net(stack, words)}"
        stage += f'<div class="ticks"><p><em>{html.escape(time)}</em>{boxes}</p></div></div>'
        says.append(f"{html.escape(kind[:1].upper() + kind[1:])}: {_said(stack, words, last)}")
    return scene(
        name,
        stage,
        question=question,
        choices=[html.escape(kind) for kind in stacks],
        says=says,
        css=_CSS,
    )


def _net(stack: Stack, words: Sequence[str]) -> str:
    """The graph of a stack: words below, a row of places for each layer above them."""
    ticks, n, top = stack.ticks(), stack.n, stack.n_layers

    def point(place: tuple[int, int]) -> tuple[float, float]:
        layer, position = place
        return 100 * (position + 0.5) / n, 91 - 82 * layer / top

    on_way = set(pairwise(stack.way()))
    edges = sorted(
        ((before, after) for after, read in stack.reads.items() for before in read),
        key=lambda edge: edge in on_way,  # what is drawn last lies on top
    )
    paths = ""
    for before, after in edges:
        (x, y), (x2, y2) = point(before), point(after)
        kind = "later way" if (before, after) in on_way else "later"
        tick = ticks[after] - stack.products + 1
        paths += f'<path class="{kind}" style="--t:{tick}" d="M{x:.1f} {y:.1f}L{x2:.1f} {y2:.1f}"/>'
    places = ""
    for place, tick in ticks.items():
        x, y = point(place)
        kind, shown = ("later", tick) if place[0] else ("given", "")
        places += f'<b class="{kind}" style="--t:{tick};left:{x:.1f}%;top:{y:.1f}%">{shown}</b>'
    named = "".join(f"<span>{html.escape(word)}</span>" for word in words)
    return (
        '<div class="net"><svg class="stretch" viewBox="0 0 100 100" preserveAspectRatio="none" '
        f'aria-hidden="true">{paths}</svg>{places}</div><div class="net-words">{named}</div>'
    )


def _said(stack: Stack, words: Sequence[str], ticks: int) -> str:
    first, last = html.escape(words[0]), html.escape(words[-1])
    parts = [] if stack.work is None else [f"<b>work</b>: {stack.work:,} multiplications"]
    parts += [
        f"<b>waiting</b>: {_many(ticks, 'product')} one after another",
        f"<b>way</b>: {_many(len(stack.way()) - 1, 'edge')} from <i>{first}</i> to <i>{last}</i>",
    ]
    return f"{_many(stack.n_layers, 'layer')}. {' · '.join(parts)}."


def _many(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


def meetings(
    words: Sequence[str],
    sizes: Sequence[int],
    *,
    titles: tuple[str, str] = ("words meet words", "words meet weights"),
    question: str = "How many components has a word?",
) -> Scene:
    """Return a cell for each pair of words beside one for each pair of components, a frame a size.

    Words meet words in two products, and weights in the two matrices of a recurrence.
    """
    n, most = len(words), max(sizes)
    components = [str(component + 1) for component in range(most)]
    inside = [torch.arange(most) < size for size in sizes]
    says = [
        f"{n**2} pairs of words · {size} numbers · 2 products = {2 * n * n * size}. "
        f"{size**2} pairs of components · {n} words · 2 matrices = {2 * n * size**2}."
        for size in sizes
    ]
    everyone = torch.ones(n, n, dtype=torch.bool)
    return grids(
        "meetings",
        [
            Grid(titles[0], words, words, [everyone] * len(sizes)),
            Grid(titles[1], components, components, [one[:, None] & one for one in inside]),
        ],
        corner="",
        question=question,
        choices=[f"d = {size}" for size in sizes],
        says=says,
    )


def reached(name: str, words: Sequence[str], r: int, depths: Sequence[int]) -> Scene:
    """Return which word depends on which after some layers that look at r neighbours each."""
    near = neighbourhood_mask(len(words), r)[0, 0].float()
    shown = [
        Grid(_many(depth, "layer"), words, words, [torch.matrix_power(near, depth) > 0])
        for depth in depths
    ]
    return grids(name, shown, corner="depends ↓<br>on →", words="connected")


def crossing_chart(
    costs: Mapping[int, Series],
    *,
    title: str,
    y_title: str,
    start: int,
    x_title: str = "n, words in a sentence",
    label: str = "d ",
    rule_name: str = "n = d",
) -> alt.LayerChart:
    """Return cost against n for each layer; the chosen d stands out, and n = d is marked.

    `costs` holds named lines by d. All widths stay visible as faint lines; `start` is shown first.

    Raises:
        ValueError: `start` is none of the widths, or a cost is not positive.
    """
    if start not in costs:
        raise ValueError(f"start must be one of the widths {list(costs)}, got {start}")
    for series in costs.values():
        check_series(series, log_x=True, log_y=True)
    rows = [
        {"d": d, "layer": name, "n": n, "cost": float(f"{cost:.4g}")}
        for d, series in costs.items()
        for name, points in series.items()
        for n, cost in points
    ]
    sizes = [row["cost"] for row in rows]
    # one scale for every width: the lines move, the axis does not
    scale = alt.Scale(type="log", base=10, domain=[min(sizes), max(sizes)], nice=False)
    legend = alt.Legend(
        title=None, symbolType="stroke", symbolOpacity=1, symbolStrokeWidth=3, columns=1
    )
    colour, dash = line_channels("layer:N", list(costs[start]), legend)
    base = alt.Chart(alt.Data(values=rows)).encode(
        alt.X("n:Q", title=x_title, scale=alt.Scale(type="log", base=2, nice=False)),
        alt.Y("cost:Q", title=y_title, scale=scale),
        colour,
    )
    tooltip = ["layer:N", "d:Q", "n:Q", alt.Tooltip("cost:Q", title=y_title, format=".3~g")]
    shown = base.transform_filter("datum.d == d_shown")
    ruled = (
        alt.Chart(alt.Data(values=[{"d": d, "name": rule_name} for d in costs]))
        .transform_filter("datum.d == d_shown")
        .encode(alt.X("d:Q"))
    )
    layers = [
        base.mark_line(strokeWidth=1, opacity=0.28).encode(dash, detail="d:N"),
        shown.mark_line(strokeWidth=3).encode(dash),
        shown.mark_point(filled=True, size=42, opacity=1).encode(tooltip=tooltip),
        ruled.mark_rule(color=PALETTE["grey"], strokeDash=[4, 4], strokeWidth=1.5),
        ruled.mark_text(align="right", dx=-5, fontSize=12).encode(y=alt.value(10), text="name:N"),
    ]
    chart = (
        alt.LayerChart(layer=layers)
        .add_params(menu("d_shown", list(costs), label, start=start))
        .properties(width="container", height=280, title=wrapped(title))
    )
    ends = "; ".join(
        f"d = {d}, {name}: {points[0][1]:.3g} at {points[0][0]}, {points[-1][1]:.3g} at "
        f"{points[-1][0]}"
        for d, series in costs.items()
        for name, points in series.items()
    )
    return described(
        chart,
        f"{title}. Lines of {y_title} over {x_title}, both axes logarithmic; a selector chooses "
        f"the width d, and a dashed line marks {rule_name}. {ends}.",
    )
