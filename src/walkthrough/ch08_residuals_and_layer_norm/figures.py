"""The connection around a sub-layer for chapter 08 (§3.1): drawn, and what it leaves of words."""

import html
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from walkthrough.ch08_residuals_and_layer_norm.experiments import alikeness
from walkthrough.drawing.look import OUTPUT, VECTOR, WEIGHT
from walkthrough.drawing.scene import Scene, at, framed, glides, scene, strip
from walkthrough.drawing.svg import arrow, box_at, drawing, words_at

CHAINS = {
    "no residual": ("sub", "norm"),
    "post-norm": ("sub", "+", "norm"),
    "pre-norm": ("norm", "sub", "+"),
}
"""What stands around each sub-layer, in the order in which a word meets it."""
_WIDTHS = {"attention": 62, "feed-forward": 84, "norm": 38, "+": 14}
_MIDDLE, _OVER = 46, 10
_CSS = """
.wires marker path{fill:currentColor}
.wires strong{display:block;font-weight:600;margin:.2em 0}
.depths{display:grid;grid-template-columns:auto repeat(var(--n),minmax(0,1fr));gap:3px 4px;
align-items:center;margin-top:.9em}
.depths b{font-weight:500;text-align:right;padding-right:.3em}
.depths :is(small,span){text-align:center;font-size:1em;font-variant-numeric:tabular-nums}
"""
_STEPS_CSS = f"""
#scene-steps .stage{{display:flex;flex-wrap:wrap;gap:.6em 2em}}
#scene-steps .stage>div{{flex:1 1 17em}}
#scene-steps .stage p{{display:grid;grid-template-columns:repeat(6,1fr);margin:0;text-align:center}}
#scene-steps .stage p span{{position:relative;height:9.4em;
background:linear-gradient(currentColor,currentColor) 0 5.4em/100% 1px no-repeat}}
#scene-steps .stage p i{{position:absolute;left:20%;right:20%;--v:var(--a,var(--z));
background:{VECTOR};top:calc(5.4em - max(var(--v),0)*1.8em);
height:calc(max(var(--v),-1*var(--v))*1.8em)}}
#scene-steps .stage :is(em,small){{position:absolute;inset:auto 0 1.2em;font-style:normal;
font-size:1em;font-variant-numeric:tabular-nums}}
#scene-steps .stage small{{bottom:0;opacity:.8}}
@container(min-width:460px){{#scene-steps .stage :is(em,small){{font-size:.82em}}}}
"""


def _wires(kind: str, name: str) -> str:
    """Draw one encoder layer: boxes in a line, and what runs past a sub-layer as a thick arc."""
    label, x = f"{name}-{kind.replace(' ', '-')}", 12
    placed, arcs = [], ""
    for sub in ("attention", "feed-forward"):
        start = x
        for part in CHAINS[kind]:
            shown = sub if part == "sub" else part
            placed.append((shown, x))
            if part == "+":
                arcs += (
                    f'<path d="M{start - 5} {_MIDDLE}V{_OVER + 8}Q{start - 5} {_OVER} {start + 3} '
                    f'{_OVER}H{x - 1}Q{x + 7} {_OVER} {x + 7} {_OVER + 8}V{_MIDDLE - 7}" '
                    f'stroke="{OUTPUT}" stroke-width="3"/>'
                )
            x += _WIDTHS[shown] + 10
    body = arcs
    ends = [(0, 0), *((left, _WIDTHS[shown]) for shown, left in placed), (x, 0)]
    for (left, width), (then, _) in pairwise(ends):
        body += arrow(f"M{left + width} {_MIDDLE}H{then}", label)
    for shown, left in placed:
        if shown == "+":
            circle = f'cx="{left + 7}" cy="{_MIDDLE}" r="7" stroke="{OUTPUT}" stroke-width="2"'
            body += f"<circle {circle}/>"
        else:
            colour = VECTOR if shown == "norm" else WEIGHT
            body += box_at(left, _MIDDLE - 14, _WIDTHS[shown], 28, colour)
        body += words_at(left + _WIDTHS[shown] / 2, _MIDDLE + 4, shown)
    told = " → ".join(shown for shown, _ in placed)
    size = (324, 64)
    return drawing(
        body, kind="wires", label=label, size=size, width=540, title=kind, description=told
    ).svg


def wirings(*kinds: str) -> Scene:
    """Return the ways to wire a layer, one under the other."""
    drawn = "".join(
        f'<div class="wires"><strong>{kind}</strong>{_wires(kind, "both")}</div>' for kind in kinds
    )
    order = {"sub": "sub-layer", "norm": "norm", "+": "addition"}
    told = "; ".join(f"{kind}: {', '.join(order[part] for part in CHAINS[kind])}" for kind in kinds)
    return framed("wirings", drawn, caption="", description=f"{told}.", css=_CSS)


def steps(
    features: Sequence[str],
    words: Mapping[str, Sequence[Float[Tensor, "features"]]],
    choices: Sequence[str],
    *,
    question: str = "How far is the norm?",
) -> Scene:
    """Return the components of words as bars, a frame a step of their normalisation."""
    blocks = ""
    for word, frames in words.items():
        bars = ""
        for n, feature in enumerate(features):
            values = [f"{float(frame[n]):.3f}" for frame in frames]
            numbers = "".join(
                f"<em{at(k, first=0)}>{_number(float(value))}</em>"
                for k, value in enumerate(values)
            )
            bar = f'<i class="glides" style="--z:{values[0]};{glides(values)}"></i>'
            bars += f"<span>{bar}{numbers}<small>{html.escape(feature)}</small></span>"
        blocks += f"<div><b>{html.escape(word)}</b><p>{bars}</p></div>"
    told = [
        f"{choice[0].upper()}{choice[1:]}: "
        + ", ".join(
            f"<i>{html.escape(word)}</i> has mean {_number(frames[n].mean().item())} "
            f"and variance {_number(frames[n].var(correction=0).item())}"
            for word, frames in words.items()
        )
        + "."
        for n, choice in enumerate(choices)
    ]
    return scene("steps", blocks, question=question, choices=choices, says=told, css=_STEPS_CSS)


def passage(
    name: str,
    words: Sequence[str],
    streams: Mapping[str, Float[Tensor, "depth words d_model"]],
    *,
    question: str,
    wires: Sequence[str] = (),
    first: int = 0,
) -> Scene:
    """Return words on their way through a stack, a frame a stream: in, then after each layer.

    A strip shows a word's pattern, without its mean and size. `wires` draws each frame's layer.
    """
    n_layers = len(next(iter(streams.values()))) - 1
    shown = [F.layer_norm(stream, stream.shape[-1:]) for stream in streams.values()]
    alike = [alikeness(stream).tolist() for stream in streams.values()]

    def each(what: Callable[[int], str]) -> str:
        return "".join(f"<div{at(n, first=first)}>{what(n)}</div>" for n in range(len(shown)))

    def cell(depth: int, row: int) -> str:
        return each(lambda n: strip(shown[n][depth, row], WEIGHT, reach=2.0))

    def number(depth: int) -> str:
        return each(lambda n: _number(alike[n][depth]))

    depths = range(n_layers + 1)
    grid = "<small>layer</small>" + "".join(f"<small>{depth or 'in'}</small>" for depth in depths)
    for row, word in enumerate(words):
        grid += f"<b>{html.escape(word)}</b>"
        grid += "".join(f"<div>{cell(depth, row)}</div>" for depth in depths)
    grid += "<b>alike</b>" + "".join(f"<span>{number(depth)}</span>" for depth in depths)
    drawn = f'<div class="wires">{each(lambda n: _wires(wires[n], name))}</div>' if wires else ""
    says = [
        f"{kind[0].upper()}{kind[1:]}: two words, alike to {_number(values[0])} when they come in, "
        f"are alike to {_number(values[-1])} after {n_layers} layers."
        for kind, values in zip(streams, alike, strict=True)
    ]
    return scene(
        name,
        f'{drawn}<div class="depths" style="--n:{n_layers + 1}">{grid}</div>',
        question=question,
        choices=list(streams),
        says=says,
        first=first,
        css=_CSS,
    )


def _number(value: float) -> str:
    return f"{value:z.2f}".replace("-", "−")
