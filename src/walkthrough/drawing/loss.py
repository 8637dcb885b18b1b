"""Loss curves: training and validation, one run or several."""

import altair as alt

from walkthrough.drawing.lines import Series, line_chart


def loss_curve(
    runs: Series,
    *,
    title: str = "The loss falls on training and on validation sentences alike",
    x_title: str = "update",
    y_title: str = "loss per token (nats)",
    log_y: bool = False,
    description: str | None = None,
) -> alt.LayerChart:
    """Return named loss curves as (update or tokens, loss) points; the legend says where each ends.

    Raises:
        ValueError: no points, or a loss that is not finite.
    """
    return line_chart(
        runs,
        title=title,
        x_title=x_title,
        y_title=y_title,
        log_y=log_y,
        points=max((len(points) for points in runs.values()), default=0) <= 40,
        last_values=True,
        description=description,
    )
