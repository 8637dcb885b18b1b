"""A training run as figures: the loss, live and at the end; translations; what heads align."""

import time
from collections.abc import Callable, Mapping, Sequence
from difflib import SequenceMatcher
from html import escape
from typing import Any

import altair as alt
import pandas as pd
from IPython.display import DisplayHandle, display
from jaxtyping import Float
from pandas.io.formats.style import Styler
from torch import Tensor

from walkthrough.drawing.channels import point_channels
from walkthrough.drawing.lines import Number, Series
from walkthrough.drawing.loss import loss_curve
from walkthrough.drawing.style import PALETTE, described, rounded, wrapped


class LiveLoss:
    """A loss curve that grows in place while a cell trains; one chart stays when it ends.

        with LiveLoss(title="…") as live:
            for update, loss in train():
                live.add(update, train=loss)

    Nothing else is printed, so a stored notebook holds one figure. `history` keeps every point.
    `draw` makes the chart of a history, `every` is the least time between redrawings in seconds.
    """

    def __init__(
        self,
        *,
        every: Number = 1.0,
        draw: Callable[[Series], alt.TopLevelMixin] | None = None,
        **settings: Any,
    ) -> None:
        self.history: dict[str, list[tuple[Number, Number]]] = {}
        self.every = every
        self._draw = draw or (lambda history: loss_curve(history, **settings))
        self._handle: DisplayHandle | None = None
        self._drawn_at = float("-inf")

    def __enter__(self) -> "LiveLoss":
        return self

    def __exit__(self, *error: object) -> None:
        self.draw()

    def add(self, step: Number, **losses: Number) -> None:
        """Add one point to each named curve, and redraw when it is time."""
        for name, loss in losses.items():
            self.history.setdefault(name, []).append((float(step), float(loss)))
        if time.monotonic() - self._drawn_at >= self.every:
            self.draw()

    def draw(self) -> None:
        """Show the curves so far, in place of what was shown before."""
        if not self.history:
            return
        chart = self._draw(self.history)
        if self._handle is None:
            self._handle = display(chart, display_id=True)
        else:
            self._handle.update(chart)
        self._drawn_at = time.monotonic()


TRANSLATION_COLUMNS = ("source", "model: ✓ exact, ✗ not")


def translations_table(
    sources: Sequence[str],
    references: Sequence[str],
    outputs: Sequence[str],
    *,
    caption: str = "Translations side by side: {n_exact} of {n} are exact",
    columns: tuple[str, str] = TRANSLATION_COLUMNS,
) -> Styler:
    """Return sources and outputs as a table that says which outputs are exact.

    Under an output that is not stands the reference, with the words that differ in bold. So the
    two can be compared line by line, on a narrow page too.

    Raises:
        ValueError: the three lists differ in length.
    """
    lengths = (len(sources), len(references), len(outputs))
    if len(set(lengths)) != 1:
        raise ValueError(
            "one source, one reference and one output a row: got "
            f"{lengths[0]}, {lengths[1]} and {lengths[2]}"
        )
    pairs = list(zip(outputs, references, strict=True))
    cells = [escape(text) for text in sources], [_compared(*pair) for pair in pairs]
    table = pd.DataFrame(dict(zip(columns, cells, strict=True)))
    words = caption.format(n_exact=sum(same == wanted for same, wanted in pairs), n=len(pairs))
    left = [("text-align", "left"), ("vertical-align", "top")]
    styles: Any = [
        {"selector": "th, td", "props": left},
        {"selector": "caption", "props": [("caption-side", "top"), ("text-align", "left")]},
    ]
    return table.style.hide(axis="index").set_caption(words).set_table_styles(styles)


def _compared(output: str, reference: str) -> str:
    """Return the output as HTML; where it is not the reference, both, with what differs in bold."""
    if output == reference:
        return f"✓ {escape(output)}"
    said, wanted = output.split(), reference.split()
    return f"✗ {_unlike(said, wanted) or 'nothing'}<br>reference: {_unlike(wanted, said)}"


def _unlike(words: list[str], others: list[str]) -> str:
    blocks = SequenceMatcher(a=words, b=others, autojunk=False).get_matching_blocks()
    kept = {place for block in blocks for place in range(block.a, block.a + block.size)}
    return " ".join(
        escape(word) if place in kept else f"<b>{escape(word)}</b>"
        for place, word in enumerate(words)
    )


def head_scores(
    errors: Float[Tensor, "layers heads"] | Mapping[str, Float[Tensor, "layers heads"]],
    *,
    baselines: Mapping[str, Number] | None = None,
    title: str = "Which heads align? Lower is better; the dashed line is the diagonal",
    x_title: str = "alignment error rate",
    description: str | None = None,
) -> alt.LayerChart:
    """Return the alignment error of each head, layer by layer, beside baselines.

    `errors` may map names, such as seeds, to one table each; shape and colour tell them apart.

    Raises:
        ValueError: there is no table.
    """
    named = dict(errors) if isinstance(errors, Mapping) else {"heads": errors}
    if not named:
        raise ValueError("a chart of heads needs at least one table of errors; got none")
    rows = [
        {"run": name, "layer": layer, "head": head, "error": error}
        for name, table in named.items()
        for layer, heads in enumerate(rounded(table), start=1)
        for head, error in enumerate(heads, start=1)
    ]
    baselines = dict(baselines or {})
    names = list(named)
    legend = alt.Legend(title=None) if len(names) > 1 else None
    colour, shape = point_channels("run:N", names, legend)
    x = alt.X("error:Q", title=x_title, scale=alt.Scale(domain=[0, 1]))
    points = (
        alt.Chart(alt.Data(values=rows))
        .mark_point(filled=True, size=110, opacity=0.9)
        .encode(
            x,
            alt.Y("layer:O", title="layer"),
            colour,
            shape=shape,
            tooltip=[
                alt.Tooltip("run:N", title="run"),
                alt.Tooltip("layer:O", title="layer"),
                alt.Tooltip("head:O", title="head"),
                alt.Tooltip("error:Q", title=x_title, format=".3f"),
            ],
        )
    )
    n_layers = max(table.shape[0] for table in named.values())
    chart = alt.LayerChart(layer=[*_baselines(baselines, x), points]).properties(
        width="container", height=60 * n_layers + 20, title=wrapped(title)
    )
    return described(chart, description or _heads_in_words(title, rows, baselines))


def _baselines(baselines: Mapping[str, Number], x: alt.X) -> list[alt.Chart]:
    rows = [{"name": name, "error": round(value, 3)} for name, value in baselines.items()]
    if not rows:
        return []
    base = alt.Chart(alt.Data(values=rows))
    rule = base.mark_rule(color=PALETTE["grey"], strokeDash=[5, 4], strokeWidth=2).encode(x)
    words = base.transform_calculate(words="datum.name + ' ' + format(datum.error, '.2f')")
    label = words.mark_text(align="left", dx=4, fontSize=12)
    return [rule, label.encode(x, y=alt.value(8), text="words:N")]


def _heads_in_words(title: str, rows: list[dict[str, Any]], baselines: Mapping[str, Number]) -> str:
    best = min(rows, key=lambda row: row["error"])
    beside = "".join(f" {name}: {value:.2f}." for name, value in baselines.items())
    return (
        f"{title}. One point a head, layers as rows. The best, layer {best['layer']} head "
        f"{best['head']}, has an error of {best['error']:.2f}.{beside}"
    )
