"""Positional encodings for chapter 07 (§3.5) as clocks, map and waves; answers by position."""

import html
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import altair as alt
from jaxtyping import Float
from torch import Tensor

from walkthrough.drawing.channels import line_channels, number_slider
from walkthrough.drawing.scene import Scene, at, glides, scene
from walkthrough.drawing.style import PALETTE, SIGNED_SCHEME, described, rounded, wrapped

ByLength = Mapping[int, Sequence[float]]

_CLOCKS_CSS = """
.clocks{display:grid;grid-template-columns:repeat(var(--n),minmax(0,1fr));gap:.7em;max-width:52em;
text-align:center;font-variant-numeric:tabular-nums}
.clocks .face{position:relative;width:min(100%,10em);aspect-ratio:1;margin:.4em auto .5em;
border-radius:50%;border:1.5px solid color-mix(in srgb,currentColor 38%,transparent)}
.clocks .face i{position:absolute;left:50%;bottom:50%;width:4px;margin-left:-2px;border-radius:2px;
transform-origin:50% 100%;transform:rotate(calc(var(--a,var(--z))*1rad))}
.clocks .face u{position:absolute;width:7px;height:7px;margin:-3.5px;border-radius:50%;
background:currentColor;opacity:.42}
.clock-names{display:flex;gap:1.4em;margin-bottom:.6em}
.clock-names i{display:inline-block;width:1.3em;height:5px;border-radius:2px;margin-right:.4em;
vertical-align:middle}
"""


class Hand(NamedTuple):
    """A hand on each clock: its name, its colour, its angles from the top, its length."""

    name: str
    ink: str
    angles: Float[Tensor, "frames clocks"]
    length: float = 1.0


def clocks(
    name: str,
    faces: Sequence[str],
    hands: Sequence[Hand],
    below: Sequence[Sequence[str]],
    *,
    marks: Float[Tensor, "marks clocks"] | None = None,
    choices: Sequence[str],
    question: str,
    says: Sequence[str],
    first: int = 0,
) -> Scene:
    """Return clocks side by side; buttons move their hands, `below[frame]` stands under each.

    `marks` are angles at which each rim has a dot.
    """
    drawn = ""
    for clock, face in enumerate(faces):
        inside = "".join(_hand(hand, clock, first) for hand in hands)
        if marks is not None:
            inside += "".join(_mark(angle) for angle in marks[:, clock].tolist())
        under = "".join(
            f"<div{at(frame, first=first)}>{line[clock]}</div>" for frame, line in enumerate(below)
        )
        drawn += f'<div>{face}<div class="face">{inside}</div>{under}</div>'
    named = "".join(
        f'<span><i style="background:{hand.ink}"></i>{html.escape(hand.name)}</span>'
        for hand in hands
    )
    legend = f'<div class="clock-names">{named}</div>' if len(hands) > 1 else ""
    return scene(
        name,
        f'{legend}<div class="clocks" style="--n:{len(faces)}">{drawn}</div>',
        question=question,
        choices=choices,
        says=says,
        first=first,
        css=_CLOCKS_CSS,
    )


def _hand(hand: Hand, clock: int, first: int) -> str:
    # a far position would spin for a second: three turns are enough to see that it is far
    turns = [
        f"{a % math.tau + math.tau * min(a // math.tau, 3):.3f}"
        for a in hand.angles[:, clock].tolist()
    ]
    style = f"background:{hand.ink};height:{46 * hand.length:.0f}%;--z:{turns[first]}"
    return f'<i class="glides" style="{style};{glides(turns)}"></i>'


def _mark(angle: float) -> str:
    right, up = 50 * math.sin(angle), 50 * math.cos(angle)
    return f'<u style="left:{50 + right:.1f}%;top:{50 - up:.1f}%"></u>'


def encoding_heatmap(
    encoding: Float[Tensor, "length d_model"],
    *,
    title: str = "Each row is a position: fast waves on the left, slow ones on the right",
    description: str | None = None,
) -> alt.Chart:
    """Return the encoding as a map, one row a position and one column a dimension."""
    length, d_model = encoding.shape
    row = {
        "value": rounded(encoding, 2),
        "position": list(range(length)),
        "dimension": list(range(d_model)),
    }
    colour = alt.Color(
        "value:Q",
        scale=alt.Scale(scheme=SIGNED_SCHEME, domain=[-1, 1], domainMid=0),
        legend=alt.Legend(title="value", orient="bottom", gradientLength=160),
    )
    chart = (
        alt.Chart(alt.Data(values=[row]))
        .transform_flatten(["value", "position"])
        .transform_flatten(["value", "dimension"])
        .mark_rect()
        .encode(
            alt.X("dimension:O", title="dimension →", axis=_sparse_axis(d_model)),
            alt.Y("position:O", title="↓ position", axis=_sparse_axis(length)),
            colour,
            tooltip=["position:O", "dimension:O", alt.Tooltip("value:Q", format=".2f")],
        )
        .properties(width="container", height=4 * length, title=wrapped(title))
    )
    words = f"{title}. Heat map of {length} positions as rows and {d_model} dimensions as columns."
    return described(chart, description or words)


def _sparse_axis(n: int) -> alt.Axis:
    apart = max(1, 2 ** math.ceil(math.log2(max(n / 8, 1))))
    return alt.Axis(values=list(range(0, n, apart)), ticks=True, labelAngle=0)


def encoding_waves(
    encoding: Float[Tensor, "length d_model"],
    *,
    title: str = "One pair over the positions: the waves that its hand draws",
    description: str | None = None,
) -> alt.LayerChart:
    """Return the sine and the cosine of one pair over the positions; a slider chooses the pair.

    Raises:
        ValueError: d_model is odd.
    """
    length, d_model = encoding.shape
    if d_model % 2:
        raise ValueError(f"pairs of sine and cosine need an even d_model; got {d_model}")
    values = rounded(encoding.T)
    names = ["dimension 2i: sine", "dimension 2i + 1: cosine"]
    rows = [
        {"pair": n // 2, "wave": names[n % 2], "position": list(range(length)), "value": column}
        for n, column in enumerate(values)
    ]
    pair = number_slider("pair", "pair i ", d_model // 2 - 1, start=min(2, d_model // 2 - 1))
    shown = alt.Chart(alt.Data(values=rows)).transform_filter("datum.pair == pair")
    shown = shown.transform_flatten(["position", "value"])
    colour, dash = line_channels("wave:N", names, alt.Legend(title=None, columns=1))
    x = alt.X("position:Q", title="position →", scale=alt.Scale(nice=False))
    y = alt.Y("value:Q", title="value", scale=alt.Scale(domain=[-1.1, 1.1]))
    tooltip = ["wave:N", "position:Q", alt.Tooltip("value:Q", format=".3f")]
    layers = [
        shown.mark_line().encode(x, y, colour, strokeDash=dash),
        shown.mark_point(filled=True, size=26).encode(x, y, colour, tooltip=tooltip),
    ]
    chart = alt.LayerChart(layer=layers).add_params(pair)
    chart = chart.properties(width="container", height=120, title=wrapped(title))
    words = f"{title}. Sine and cosine over {length} positions; a slider chooses the pair."
    return described(chart, description or words)


def accuracy_by_position(
    results: Mapping[str, ByLength],
    *,
    trained_to: int,
    title: str = "Right answers at each position; grey line: the longest sentence in training",
    slider: str = "words in the sentence ",
    description: str | None = None,
) -> alt.LayerChart:
    """Return accuracy over position, one line a model; a slider chooses the sentence's length.

    `results[name][length]` holds one accuracy for each position of sentences of that length; the
    lengths are evenly spaced.
    """
    rows = [
        {"model": name, "length": n, "accuracy": list(shares), "position": list(range(n))}
        for name, by_length in results.items()
        for n, shares in by_length.items()
    ]
    lengths = sorted({n for by_length in results.values() for n in by_length})
    chosen = number_slider(
        "length",
        slider,
        lengths[-1],
        start=lengths[-1],
        smallest=lengths[0],
        step=lengths[1] - lengths[0],
    )
    shown = alt.Chart(alt.Data(values=rows)).transform_filter("datum.length == length")
    shown = shown.transform_flatten(["accuracy", "position"])
    legend = alt.Legend(title=None, columns=1, symbolType="stroke", labelLimit=300)
    colour, dash = line_channels("model:N", list(results), legend)
    x_scale = alt.Scale(domain=[0, lengths[-1] - 1], nice=False)
    axes = (
        alt.X(
            "position:Q",
            title="position →",
            scale=x_scale,
            axis=alt.Axis(tickCount=8, format="d"),
        ),
        alt.Y(
            "accuracy:Q",
            title="share of right answers",
            scale=alt.Scale(domain=[0, 1]),
            axis=alt.Axis(format="%"),
        ),
    )
    tooltip = ["model:N", "position:Q", alt.Tooltip("accuracy:Q", title="right", format=".1%")]
    edge = alt.Chart(alt.Data(values=[{"edge": trained_to - 0.5}]))
    layers = [
        edge.mark_rule(color=PALETTE["grey"], strokeDash=[4, 4]).encode(x="edge:Q"),
        shown.mark_line().encode(*axes, colour, strokeDash=dash),
        shown.mark_point(filled=True, size=30).encode(*axes, colour, tooltip=tooltip),
    ]
    chart = alt.LayerChart(layer=layers).add_params(chosen)
    chart = chart.properties(width="container", height=170, title=wrapped(title))
    return described(chart, description or _in_words(title, results, lengths[-1], trained_to))


def _in_words(title: str, results: Mapping[str, ByLength], longest: int, trained_to: int) -> str:
    parts = []
    for name, by_length in results.items():
        past = by_length[longest][trained_to:]
        parts.append(f"{name}: {sum(past) / len(past):.0%} from position {trained_to} on")
    return (
        f"{title}. In sentences of {longest} words: {'; '.join(parts)}. "
        "A slider chooses the length of the sentences."
    )
