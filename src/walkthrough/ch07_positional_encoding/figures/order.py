"""Accuracy at every position, for chapter 07: inside the trained length and past it (§3.5)."""

from collections.abc import Mapping
from itertools import pairwise

import altair as alt
from jaxtyping import Float
from torch import Tensor

from walkthrough.drawing.channels import line_channels, number_slider
from walkthrough.drawing.style import PALETTE, described, rounded, wrapped

ByLength = Mapping[int, Float[Tensor, " _"]]


def accuracy_by_position(
    results: Mapping[str, ByLength],
    *,
    trained_to: int,
    title: str = "Right answers at each position; grey line: the longest sentence in training",
    slider: str = "words in the sentence ",
    description: str | None = None,
) -> alt.LayerChart:
    """Return accuracy over position, one line a model; a slider chooses the sentence's length.

    `results[name][length]` holds one accuracy for each position of sentences of that length.

    Raises:
        ValueError: there are no results, the models were tested at different lengths, the lengths
            are not evenly spaced, or an accuracy is missing for a position.
    """
    lengths = _lengths(results)
    rows = [
        {
            "model": name,
            "length": length,
            "accuracy": rounded(accuracy),
            "position": list(range(length)),
        }
        for name, by_length in results.items()
        for length, accuracy in by_length.items()
    ]
    first, second, *_ = lengths
    chosen = number_slider(
        "length", slider, lengths[-1], start=lengths[-1], smallest=first, step=second - first
    )
    shown = alt.Chart(alt.Data(values=rows)).transform_filter("datum.length == length")
    shown = shown.transform_flatten(["accuracy", "position"])
    layers = [_edge(trained_to), *_lines(shown, list(results), lengths[-1])]
    chart = alt.LayerChart(layer=layers).add_params(chosen)
    chart = chart.properties(width="container", height=220, title=wrapped(title))
    return described(chart, description or _in_words(title, results, trained_to))


def _lengths(results: Mapping[str, ByLength]) -> list[int]:
    if not results:
        raise ValueError("a chart of accuracies needs at least one model; got none")
    tested = {name: sorted(by_length) for name, by_length in results.items()}
    lengths = next(iter(tested.values()))
    if any(other != lengths for other in tested.values()):
        raise ValueError(f"all models must be tested at the same lengths; got {tested}")
    if len({b - a for a, b in pairwise(lengths)}) != 1:
        raise ValueError(f"a slider needs two or more evenly spaced lengths; got {lengths}")
    for name, by_length in results.items():
        for length, accuracy in by_length.items():
            if len(accuracy) != length:
                raise ValueError(
                    f"an accuracy is needed for each of {length} positions; "
                    f"{name!r} has {len(accuracy)}"
                )
    return lengths


def _edge(trained_to: int) -> alt.Chart:
    edge = alt.Chart(alt.Data(values=[{"edge": trained_to - 0.5}]))
    return edge.mark_rule(color=PALETTE["grey"], strokeDash=[4, 4]).encode(x="edge:Q")


def _lines(shown: alt.Chart, names: list[str], longest: int) -> list[alt.Chart]:
    legend = alt.Legend(title=None, columns=1, symbolType="stroke")
    colour, dash = line_channels("model:N", names, legend)
    x = alt.X(
        "position:Q",
        title="position →",
        scale=alt.Scale(domain=[0, longest - 1], nice=False),
        axis=alt.Axis(tickCount=8, format="d"),
    )
    y = alt.Y(
        "accuracy:Q",
        title="share of right answers",
        scale=alt.Scale(domain=[0, 1]),
        axis=alt.Axis(format="%"),
    )
    tooltip = [
        alt.Tooltip("model:N", title="model"),
        alt.Tooltip("position:Q", title="position"),
        alt.Tooltip("accuracy:Q", title="right", format=".1%"),
    ]
    return [
        shown.mark_line().encode(x, y, colour, strokeDash=dash),
        shown.mark_point(filled=True, size=30).encode(x, y, colour, tooltip=tooltip),
    ]


def _in_words(title: str, results: Mapping[str, ByLength], trained_to: int) -> str:
    longest = max(next(iter(results.values())))
    parts = []
    for name, by_length in results.items():
        accuracy = by_length[longest]
        inside, past = accuracy[:trained_to].mean(), accuracy[trained_to:].mean()
        parts.append(f"{name}: {inside:.0%} before position {trained_to}, {past:.0%} from there on")
    return (
        f"{title}. In sentences of {longest} words: {'; '.join(parts)}. "
        "A slider chooses the length of the sentences."
    )
