"""Why the scores are divided by √d_k (§3.2.1): their variance, and what softmax does with it."""

from collections.abc import Sequence

import altair as alt
from jaxtyping import Float
from torch import Tensor

from walkthrough.drawing.channels import number_slider
from walkthrough.drawing.lines import Number, Points, line_chart
from walkthrough.drawing.style import PALETTE, WEIGHT, described, rounded, token_labels, wrapped


def vanishing_chart(
    unscaled: Points,
    scaled: Points,
    *,
    title: str = "Without the scale, softmax stops passing gradients as d_k grows",
    names: tuple[str, str] = ("q·k", "q·k / √d_k"),
    y_title: str = "share of vanished gradients",
    description: str | None = None,
) -> alt.LayerChart:
    """Return the share (0 to 1) of softmax gradients that vanish, as (d_k, share) points."""
    return line_chart(
        {names[0]: unscaled, names[1]: scaled},
        title=title,
        x_title="d_k, size of a query and a key",
        y_title=y_title,
        log_x=True,
        base=2,
        y_domain=(0.0, 1.0),
        description=description,
    )


def softmax_explorer(
    scores: Float[Tensor, "key_len"],
    tokens: Sequence[str],
    *,
    largest_factor: Number = 16.0,
    title: str = "Larger scores: one weight takes everything, and its gradient goes to 0",
    slider: str = "scores × ",
    description: str | None = None,
) -> alt.VConcatChart:
    """Return softmax(factor · scores) with a slider for the factor, and the gradient it leaves.

    Raises:
        ValueError: scores and tokens differ in number.
    """
    if len(tokens) != scores.shape[0]:
        raise ValueError(f"one score a token: got {scores.shape[0]} scores, {len(tokens)} tokens")
    rows = [
        {"key": label, "column": column, "score": score}
        for column, (label, score) in enumerate(
            zip(token_labels(tokens), rounded(scores), strict=True)
        )
    ]
    factor = number_slider("factor", slider, largest_factor, start=1, step=0.25)
    base = (
        alt.Chart(alt.Data(values=rows))
        .transform_calculate(scaled="datum.score * factor")
        .transform_joinaggregate(largest="max(scaled)")
        .transform_calculate(power="exp(datum.scaled - datum.largest)")
        .transform_joinaggregate(total="sum(power)")
        .transform_calculate(weight="datum.power / datum.total")
        .transform_calculate(gradient="datum.weight * (1 - datum.weight)")
        .encode(
            alt.X(
                "key:N",
                sort=alt.EncodingSortField("column", op="min"),
                axis=alt.Axis(title=None, labelAngle=-45),
            )
        )
    )
    weights = _bars(base, "weight", "weight", WEIGHT, 1.0)
    gradients = _bars(base, "gradient", "∂weight / ∂score", PALETTE["grey"], 0.25)
    chart = alt.vconcat(weights, gradients, spacing=10).add_params(factor)
    chart = chart.properties(title=wrapped(title))
    words = description or (
        f"{title}. Two bar charts over {len(tokens)} keys: the softmax weight of each key, and the "
        f"derivative w(1 − w) of that weight by its score, once multiplied. A slider multiplies "
        f"the scores by 0 to {largest_factor:g}."
    )
    return described(chart, words)


def _bars(base: alt.Chart, field: str, title: str, colour: str, largest: float) -> alt.Chart:
    y = alt.Y(f"{field}:Q", title=title, scale=alt.Scale(domain=[0, largest]))
    tooltip = [
        alt.Tooltip("key:N", title="key"),
        alt.Tooltip("scaled:Q", title="score × factor", format=".2f"),
        alt.Tooltip(f"{field}:Q", title=title, format=".4f"),
    ]
    bars = base.mark_bar(color=colour).encode(y, tooltip=tooltip)
    return bars.properties(width=260, height=110)
