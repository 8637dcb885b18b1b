"""The shared matrix for chapter 06 (§3.4): how large, how it learns, what it has learned."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import torch
from jaxtyping import Float
from torch import Tensor

from walkthrough.drawing.channels import line_channels, menu
from walkthrough.drawing.style import CATEGORIES, PALETTE, described, token_labels, wrapped

Sizes = Mapping[int, Mapping[str, float]]
BEFORE, AFTER = "before training", "after training"


def scale_explorer(
    sizes: Mapping[str, Sizes],
    *,
    start: str | None = None,
    title: str = "How large are the vectors that are added, and the logits?",
    label: str = "matrix and factor ",
    x_title: str = "d_model",
    y_title: str = "size (root mean square)",
    description: str | None = None,
) -> alt.LayerChart:
    """Return sizes over d_model, a line for each thing measured; a selector chooses the recipe.

    `sizes[recipe][d_model][thing]` is a size.

    Raises:
        ValueError: there are no recipes, recipes measured different things, or a size is not
            positive (the axis is logarithmic).
    """
    if not sizes:
        raise ValueError("a chart of sizes needs at least one recipe; got none")
    rows: list[dict[str, Any]] = [
        {"recipe": recipe, "d_model": d_model, "thing": thing, "size": float(f"{size:.4g}")}
        for recipe, by_width in sizes.items()
        for d_model, things in by_width.items()
        for thing, size in things.items()
    ]
    measured = {tuple(things) for by_width in sizes.values() for things in by_width.values()}
    if len(measured) != 1 or any(row["size"] <= 0 for row in rows):
        raise ValueError(f"every recipe needs the same positive sizes; got {sorted(measured)}")
    things = list(measured.pop())
    chosen = menu("recipe", list(sizes), label, start=start)
    scale = alt.Scale(type="log", base=2, nice=False)
    largest, smallest = (pick(row["size"] for row in rows) for pick in (max, min))
    y_scale = alt.Scale(type="log", domain=[smallest / 1.3, largest * 1.3], nice=False)
    legend = alt.Legend(title=None, columns=1, symbolType="stroke")
    colour, dash = line_channels("thing:N", things, legend)
    shown = alt.Chart(alt.Data(values=rows)).transform_filter("datum.recipe == recipe")
    axes = (
        alt.X("d_model:Q", title=x_title, scale=scale, axis=alt.Axis(tickCount=5, format="d")),
        alt.Y("size:Q", title=y_title, scale=y_scale, axis=alt.Axis(format="~g", tickCount=5)),
    )
    tooltip = [
        alt.Tooltip("thing:N", title="size of"),
        alt.Tooltip("d_model:Q", title="d_model"),
        alt.Tooltip("size:Q", title="size", format=".3~g"),
    ]
    layers = [
        shown.mark_line().encode(*axes, colour, strokeDash=dash),
        shown.mark_point(filled=True, size=40).encode(*axes, colour, tooltip=tooltip),
    ]
    chart = alt.LayerChart(layer=layers).add_params(chosen)
    chart = chart.properties(width="container", height=230, title=wrapped(title))
    return described(chart, description or _sizes_in_words(title, sizes))


def _sizes_in_words(title: str, sizes: Mapping[str, Sizes]) -> str:
    parts = []
    for recipe, by_width in sizes.items():
        widest = max(by_width)
        values = ", ".join(f"{thing} {size:.2g}" for thing, size in by_width[widest].items())
        parts.append(f"{recipe}: {values}")
    return (
        f"{title}. Lines of sizes over d_model on logarithmic axes; a selector chooses how the "
        f"matrix starts and its factor. At the largest d_model: {'; '.join(parts)}."
    )


def gradient_chart(
    words: Sequence[str],
    gradients: Mapping[str, Float[Tensor, " words"]],
    *,
    title: str,
    x_title: str = "length of the gradient of the word's row",
    description: str | None = None,
) -> alt.Chart:
    """Return bars: how much of each word's gradient comes from which use of the matrix.

    Raises:
        ValueError: there are no words or uses, or a use has not one gradient for each word.
    """
    lengths = {end: len(values) for end, values in gradients.items()}
    if not words or set(lengths.values()) != {len(words)}:
        raise ValueError(f"one gradient for each of {len(words)} words is needed; got {lengths}")
    labels = token_labels(words)
    rows = [
        {"word": label, "end": end, "gradient": float(f"{value:.3g}")}
        for end, values in gradients.items()
        for label, value in zip(labels, values.tolist(), strict=True)
    ]
    ends = list(gradients)
    chart = (
        alt.Chart(alt.Data(values=rows))
        .mark_bar()
        .encode(
            alt.X("gradient:Q", title=x_title),
            alt.Y("word:N", sort=labels, title=None),
            yOffset=alt.YOffset("end:N", sort=ends),
            color=alt.Color(
                "end:N",
                scale=alt.Scale(domain=ends, range=CATEGORIES[: len(ends)]),
                legend=alt.Legend(title=None, columns=1),
            ),
            tooltip=["word:N", "end:N", alt.Tooltip("gradient:Q", format=".3~g")],
        )
        .properties(width="container", height=34 * len(words), title=wrapped(title))
    )
    silent = {end: int((values == 0).sum()) for end, values in gradients.items()}
    counted = ", ".join(f"{end}: {n} of {len(words)} words get none" for end, n in silent.items())
    return described(chart, description or f"{title}. Bars by word and use. {counted}.")


def nearest(
    matrix: Float[Tensor, "vocab_size d_model"], row: int, *, among: Sequence[int], n: int
) -> list[tuple[int, float]]:
    """Return the `n` rows `among` these that point most nearly the way `row` does, with cosines."""
    directions = torch.nn.functional.normalize(matrix, dim=-1)
    others = [other for other in among if other != row]
    cosines = directions[others] @ directions[row]
    best = cosines.topk(min(n, len(others)))
    return [
        (others[i], value)
        for i, value in zip(best.indices.tolist(), best.values.tolist(), strict=True)
    ]


def neighbours_explorer(
    before: Float[Tensor, "vocab_size d_model"],
    after: Float[Tensor, "vocab_size d_model"],
    tokens: Sequence[str],
    chosen: Sequence[str],
    *,
    n: int = 6,
    title: str = "The nearest words in the matrix: chance before training, meaning after",
    word_label: str = "word ",
    when_label: str = "matrix ",
    x_title: str = "cosine with the chosen word",
    description: str | None = None,
) -> alt.Chart:
    """Return the nearest words of a chosen one, before and after training; both selectable.

    Raises:
        ValueError: a matrix has not one row for each token, a chosen word is not among the tokens,
            or none is chosen.
    """
    if not len(before) == len(after) == len(tokens):
        raise ValueError(
            "both matrices need one row for each token: "
            f"got {len(before)} and {len(after)} rows for {len(tokens)} tokens"
        )
    unknown = [word for word in chosen if word not in tokens]
    if unknown or not chosen:
        raise ValueError(f"words to choose from must be tokens; got {unknown or 'no words'}")
    places = {token: i for i, token in reversed(list(enumerate(tokens)))}
    rows: list[dict[str, Any]] = [
        {"chosen": word, "when": when, "word": tokens[other], "rank": rank, "cosine": round(cos, 3)}
        for when, matrix in ((BEFORE, before), (AFTER, after))
        for word in chosen
        for rank, (other, cos) in enumerate(
            nearest(matrix, places[word], among=range(len(tokens)), n=n)
        )
    ]
    params = [
        menu("chosen", chosen, word_label),
        menu("when", [AFTER, BEFORE], when_label),
    ]
    chart = (
        alt.Chart(alt.Data(values=rows))
        .transform_filter("datum.chosen == chosen && datum.when == when")
        .mark_bar(color=PALETTE["blue"])
        .encode(
            alt.X("cosine:Q", title=x_title, scale=alt.Scale(domain=[0, 1])),
            alt.Y(
                "word:N",
                sort=alt.EncodingSortField("rank", op="min"),
                title=None,
                axis=alt.Axis(minExtent=90, maxExtent=90),
            ),
            tooltip=["word:N", alt.Tooltip("cosine:Q", format=".2f")],
        )
        .add_params(*params)
        .properties(width="container", height=26 * n, title=wrapped(title))
    )
    first = [row["word"] for row in rows if row["chosen"] == chosen[0] and row["when"] == AFTER]
    words = (
        f"{title}. Bars of cosines; selectors choose one of {len(chosen)} words and the matrix "
        f"before or after training. After training nearest to {chosen[0]}: {', '.join(first)}."
    )
    return described(chart, description or words)
