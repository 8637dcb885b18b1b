"""What may come next, step by step: the mask of constrained decoding with what the model wants."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
from jaxtyping import Bool, Float
from torch import Tensor

from walkthrough.drawing.channels import number_slider
from walkthrough.drawing.style import NARROW, PALETTE, described, rounded, wrapped

MAY, MAY_NOT = "may come next", "closed by the rules"


def next_symbols(
    written: Sequence[str],
    symbols: Sequence[str],
    probabilities: Float[Tensor, "steps symbols"],
    allowed: Bool[Tensor, "steps symbols"],
    *,
    start: int = 0,
    shown: int = 6,
    title: str = "What the model wants next, and what the rules leave",
) -> alt.VConcatChart:
    """Return, for a step that a slider sets, the likeliest symbols and whether each may come.

    `probabilities[t]` and `allowed[t]` belong to the symbol after `written[:t]`.

    Raises:
        ValueError: steps or symbols do not fit.
    """
    expected = (len(written) + 1, len(symbols))
    if tuple(probabilities.shape) != expected or tuple(allowed.shape) != expected:
        raise ValueError(
            f"a row for each step and a column for each symbol are expected, {expected}; got "
            f"{tuple(probabilities.shape)} and {tuple(allowed.shape)}"
        )
    rows, sofar = [], []
    for step, row in enumerate(probabilities):
        sofar.append(
            {"step": step, "text": " ".join(written[max(0, step - 6) : step]) or "(start)"}
        )
        for number in row.topk(min(shown, len(symbols))).indices.tolist():
            rows.append(
                {
                    "step": step,
                    "symbol": symbols[number],
                    "probability": rounded(row[number]),
                    "state": MAY if allowed[step, number] else MAY_NOT,
                }
            )
    slider = number_slider("step", "symbols written ", len(written), start=start)
    scale = alt.Scale(domain=[MAY, MAY_NOT], range=[PALETTE["blue"], PALETTE["grey"]])
    bars = (
        alt.Chart(alt.Data(values=rows))
        .transform_filter("datum.step == step")
        .mark_bar()
        .encode(
            alt.X(
                "probability:Q", title="probability that the model gives", scale={"domain": [0, 1]}
            ),
            alt.Y("symbol:N", title="next symbol", sort="-x"),
            alt.Color("state:N", scale=scale, legend=alt.Legend(title=None, columns=1)),
            tooltip=["symbol:N", alt.Tooltip("probability:Q", format=".3f"), "state:N"],
        )
        .properties(width=NARROW, height=alt.Step(22))
    )
    line = (
        alt.Chart(alt.Data(values=sofar))
        .transform_filter("datum.step == step")
        .mark_text(align="left", fontSize=13, x=0)
        .encode(alt.Text("text:N"))
        .properties(width=NARROW, height=20, title=wrapped(title))
    )
    chart = alt.VConcatChart(vconcat=[line, bars]).add_params(slider)
    stopped = sum(not allowed[step, int(row.argmax())] for step, row in enumerate(probabilities))
    return described(
        chart,
        f"{title}. At {stopped} of {len(probabilities)} steps the likeliest symbol is closed.",
    )
