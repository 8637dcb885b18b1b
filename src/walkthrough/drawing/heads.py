"""One sentence all the way: every matrix from the words to the output of the heads (§3.2).

Small pictures stand in the order in which they are computed. Each is a button; below, what was
chosen stands with its numbers, beside the matrices that it is made of.
"""

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from walkthrough.drawing.look import KEY, OUTPUT, QUERY, VALUE, VECTOR, WEIGHT
from walkthrough.drawing.scene import Scene, framed
from walkthrough.drawing.strips import picture

_CSS = """
§ .flow{display:flex;flex-wrap:wrap;gap:.5em .7em;align-items:center}
§ .lanes{display:grid;gap:.7em}
@container(min-width:860px){§ .flow:has(.lanes){flex-wrap:nowrap}}
§ .lane{display:flex;flex-wrap:wrap;gap:.2em .3em;align-items:end}
§ .lane>b{flex-basis:100%;font-weight:600;margin-bottom:-.2em}
§ label span{padding:.2em .3em;border-radius:5px;border-color:transparent;text-align:center}
§ label:hover span{border-color:currentColor}
§ label small{display:block;font-size:.82em;line-height:1.25;white-space:nowrap}
§ label small::after{content:attr(data-shape);display:block}
§ .px{display:block;margin:0 auto;--c:6px;width:calc(var(--n)*var(--c));
height:calc(var(--m)*var(--c));background-size:100% 100%;image-rendering:pixelated;
border-radius:2px;box-shadow:0 0 0 1px color-mix(in srgb,currentColor 25%,transparent)}
@container(min-width:620px){§ .px{--c:9px}}
§ .says{min-height:1.5em}
§ .made{display:flex;flex-wrap:wrap;gap:.6em .5em;margin-top:.5em;min-height:11em}
§ .made>*,§ .made span,§ .says p{display:none}
§ .made>*{align-items:center;gap:.5em}
§ .of{display:grid;grid-template-columns:auto repeat(var(--n),minmax(2.1em,auto));gap:2px;
font-size:.84em;align-items:center}
@container(min-width:620px){§ .of{font-size:.74em}}
§ .of strong{grid-column:1/-1;font-weight:650}
§ .of b{font-weight:500;text-align:right;padding-right:.35em}
§ .of em:first-of-type{grid-column:2}
§ .of em{font-style:normal;writing-mode:vertical-rl;transform:rotate(180deg);justify-self:center;
align-self:end;padding-top:.2em}
§ .of i{font-style:normal;text-align:center;padding:.12em .2em;border-radius:3px;
font-variant-numeric:tabular-nums;background:color-mix(in srgb,var(--ink) var(--t),transparent)}
"""


@dataclass(frozen=True)
class Head:
    """One head: its three matrices, what it is called, what the columns of Q, K and of V mean."""

    w_query: Float[Tensor, "d_model d_k"]
    w_key: Float[Tensor, "d_model d_k"]
    w_value: Float[Tensor, "d_model d_v"]
    name: str = ""
    asks: Sequence[str] = ()
    hands_over: Sequence[str] = ()


@dataclass(frozen=True)
class _Matrix:
    """A matrix of the drawing: its numbers, what it is made of, and what is said of it."""

    symbol: str
    numbers: Tensor
    rows: Sequence[str]
    columns: Sequence[str]
    ink: str
    says: str
    of: tuple["_Matrix", ...] = ()
    signs: tuple[str, ...] = ()  # before each of `of` but the first, then before itself

    @property
    def shape(self) -> str:
        return f"{len(self.rows)} × {len(self.columns)}"


def all_the_way(
    name: str,
    words: Sequence[str],
    features: Sequence[str],
    x: Float[Tensor, "words d_model"],
    heads: Sequence[Head],
    w_output: Float[Tensor, "all_d_v d_model"],
    *,
    first: str = "Q",
    question: str = "Choose a matrix: what is in it, and what is it made of?",
) -> Scene:
    """Return every matrix from x to the output, each a button; `first` is shown at first.

    Raises:
        ValueError: a matrix does not fit: the rule, its shape and the shape it should have.
    """
    _check(words, features, x, heads, w_output)
    start = _Matrix("x", x, words, features, VECTOR, "a row for each word, a column for a feature")
    lanes = [
        _lane(start, head, f"<sub>{n}</sub>" * (len(heads) > 1))
        for n, head in enumerate(heads, start=1)
    ]
    end = _end([lane[-1] for lane in lanes], features, w_output)
    every = [start, *(matrix for lane in lanes for matrix in lane), *end]
    chosen = next((n for n, one in enumerate(every) if one.symbol.startswith(first)), 0)
    buttons = [_button(name, n, one, n == chosen) for n, one in enumerate(every)]
    lanes_drawn = [_row(buttons)]
    if len(heads) > 1:  # a row for each head, between x and the end
        rows = [_row(buttons[1 + 9 * n : 10 + 9 * n], one.name) for n, one in enumerate(heads)]
        side_by_side = f'<div class="lanes">{"".join(rows)}</div>'
        lanes_drawn = [_row(buttons[:1]), side_by_side, _row(buttons[1 + 9 * len(heads) :])]
    flow = "".join(lanes_drawn)
    description = _plain(" ".join(f"{one.symbol} is {one.shape}: {one.says}." for one in every))
    rules = "".join(
        f'§:has([value="m{n}"]:checked) .{part} .f{n}{{display:{kind}}}'
        for n in range(len(every))
        for part, kind in (("says", "block"), ("made", "flex"))
    )
    return framed(
        name,
        f'<fieldset class="pick"><legend>{question}</legend><div class="flow">{flow}</div>'
        f'</fieldset><div class="says" aria-live="polite">{_sentences(every)}</div>'
        f'<div class="made">{_made(every)}</div>',
        caption="",
        description=description,
        css=(_CSS + rules).replace("§", f"#scene-{name}"),
    )


def _lane(x: _Matrix, head: Head, index: str) -> list[_Matrix]:
    """The matrices of one head, in the order in which they are computed."""
    rows, d_k = x.rows, head.w_query.shape[1]
    asks = head.asks or [str(n + 1) for n in range(d_k)]
    gives = head.hands_over or [str(n + 1) for n in range(head.w_value.shape[1])]
    projected = {}
    for letter, matrix, columns, ink, does in (
        ("Q", head.w_query, asks, QUERY, "what each word looks for"),
        ("K", head.w_key, asks, KEY, "what each word can be found by"),
        ("V", head.w_value, gives, VALUE, "what each word hands over"),
    ):
        w = _Matrix(
            f"W<sup>{letter}</sup>{index}", matrix, x.columns, columns, ink,
            f"it makes {letter} of x; a row says what a feature brings",
        )  # fmt: skip
        made = _Matrix(
            letter + index, x.numbers @ matrix, rows, columns, ink,
            f"x · {w.symbol}, {does}", (x, w), ("·", "="),
        )  # fmt: skip
        projected[letter] = w, made
    (w_q, q), (w_k, k), (w_v, v) = projected.values()
    scores = _Matrix(
        f"scores{index}", q.numbers @ k.numbers.T / math.sqrt(d_k), rows, rows, WEIGHT,
        f"Q · Kᵀ / √{d_k}: each query (a row) with each key (a column)", (q, k), ("· ᵀ", "/ √d =")
    )  # fmt: skip
    weights = _Matrix(
        f"weights{index}", scores.numbers.softmax(-1), rows, rows, WEIGHT,
        "softmax of each row of the scores; each row sums to 1", (scores,), ("→",),
    )  # fmt: skip
    mixed = _Matrix(
        f"head{index}", weights.numbers @ v.numbers, rows, gives, OUTPUT,
        "weights · V: for each word the sum of all values, each times its weight",
        (weights, v), ("·", "="),
    )  # fmt: skip
    return [w_q, q, w_k, k, scores, weights, w_v, v, mixed]


def _end(found: Sequence[_Matrix], features: Sequence[str], w_output: Tensor) -> list[_Matrix]:
    """Concat, where there are several heads, W^O and the output."""
    side = found[0]
    before = []
    if len(found) > 1:
        side = _Matrix(
            "Concat", torch.cat([one.numbers for one in found], -1), found[0].rows,
            [column for one in found for column in one.columns], OUTPUT,
            "the heads side by side, head 1 first", tuple(found), (*[","] * (len(found) - 1), "="),
        )  # fmt: skip
        before = [side]
    w = _Matrix(
        "W<sup>O</sup>", w_output, side.columns, features, OUTPUT,
        "it brings what was found back to the columns of x",
    )  # fmt: skip
    output = _Matrix(
        "output", side.numbers @ w_output, side.rows, features, OUTPUT,
        f"{side.symbol} · W<sup>O</sup>, as wide as x again", (side, w), ("·", "="),
    )  # fmt: skip
    return [*before, w, output]


def _row(buttons: Sequence[str], title: str = "") -> str:
    named = f"<b>{html.escape(title)}</b>" * bool(title)
    return f'<div class="lane">{named}{"".join(buttons)}</div>'


def _button(name: str, n: int, one: _Matrix, chosen: bool) -> str:
    strengths = (one.numbers.abs() / one.numbers.abs().max().clamp(min=1e-9)).double().numpy()
    size = f"--m:{len(one.rows)};--n:{len(one.columns)}"
    return (
        f'<label><input type="radio" name="{name}" value="m{n}"{" checked" * chosen} '
        f'aria-label="{_plain(one.symbol)}, {one.shape}"><span><i class="px" '
        f'style="{size};background-image:url({picture(strengths, one.ink)})"></i>'
        f'<small data-shape="{one.shape}">{one.symbol}</small></span></label>'
    )


def _sentences(every: Sequence[_Matrix]) -> str:
    return "".join(
        f'<p class="f{n}">{one.symbol}, {one.shape}: {one.says}.</p>' for n, one in enumerate(every)
    )


def _made(every: Sequence[_Matrix]) -> str:
    """Every matrix with its numbers once, and the signs between those that are shown together."""
    place = {id(one): n for n, one in enumerate(every)}
    seen_in: list[list[int]] = [[n] for n in range(len(every))]
    signs: list[str] = [""] * len(every)
    for n, one in enumerate(every):
        for at, part in enumerate(one.of):
            seen_in[place[id(part)]].append(n)
            if at:
                signs[place[id(part)]] += f'<span class="f{n}">{one.signs[at - 1]}</span>'
        if one.of:
            signs[n] += f'<span class="f{n}">{one.signs[-1]}</span>'
    return "".join(
        f'<div class="{" ".join(f"f{frame}" for frame in seen_in[n])}">{signs[n]}'
        f"{_numbers(one)}</div>"
        for n, one in enumerate(every)
    )


def _numbers(one: _Matrix) -> str:
    largest = float(one.numbers.abs().max()) or 1.0
    cells = "".join(f"<em>{html.escape(name)}</em>" for name in one.columns)
    for name, row in zip(one.rows, one.numbers.tolist(), strict=True):
        cells += f"<b>{html.escape(name)}</b>" + "".join(
            f'<i style="--t:{60 * abs(value) / largest:.0f}%">{_short(value)}</i>' for value in row
        )
    size = f"--n:{len(one.columns)};--ink:{one.ink}"
    return f'<div class="of" style="{size}"><strong>{one.symbol}</strong>{cells}</div>'


def _short(value: float) -> str:
    return f"{round(value, 2) + 0.0:g}".replace("-", "−")  # + 0.0 turns −0 into 0


def _plain(symbol: str) -> str:
    for tag in ("sup", "sub"):
        symbol = symbol.replace(f"<{tag}>", "_").replace(f"</{tag}>", "")
    return symbol


def _check(
    words: Sequence[str],
    features: Sequence[str],
    x: Tensor,
    heads: Sequence[Head],
    w_output: Tensor,
) -> None:
    d_model = len(features)
    wanted = {"x": (x, (len(words), d_model))}
    for n, head in enumerate(heads, start=1):
        d_k, d_v = head.w_query.shape[-1], head.w_value.shape[-1]
        wanted[f"w_query of head {n}"] = head.w_query, (d_model, d_k)
        wanted[f"w_key of head {n}"] = head.w_key, (d_model, d_k)
        wanted[f"w_value of head {n}"] = head.w_value, (d_model, d_v)
    all_d_v = sum(head.w_value.shape[-1] for head in heads)
    wanted["w_output"] = w_output, (all_d_v, d_model)
    for name, (matrix, shape) in wanted.items():
        if tuple(matrix.shape) != shape:
            raise ValueError(f"{name} must have the shape {shape}, got {tuple(matrix.shape)}")
