"""The shared matrix for chapter 06 (§3.4): its two uses, who teaches it, what it learns, sizes."""

import html
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import torch
from jaxtyping import Float
from torch import Tensor

from walkthrough.drawing.channels import line_channels, menu
from walkthrough.drawing.look import KEY, QUERY, VECTOR, WEIGHT
from walkthrough.drawing.scene import Scene, at, glides, scene
from walkthrough.drawing.style import CATEGORIES, described, token_labels, wrapped

Sizes = Mapping[int, Mapping[str, float]]

_MATRIX_CSS = f"""
#scene-matrix .stage{{position:relative;padding-left:2.2em;--c:2.45em;--s:.036em}}
@container(min-width:460px){{#scene-matrix .stage{{padding-left:2.6em;--c:2.9em;--s:.16em}}}}
#scene-matrix .line{{display:grid;grid-template-columns:5em calc(4*var(--c)) 1fr;column-gap:.6em;
align-items:center;height:1.8em}}
#scene-matrix .line>span:first-child{{text-align:right;white-space:nowrap}}
#scene-matrix .four{{display:grid;grid-template-columns:repeat(4,var(--c));position:relative}}
#scene-matrix .four b{{font-weight:500;text-align:center;height:1.6em;line-height:1.6em;
margin:1px;border-radius:3px;font-variant-numeric:tabular-nums}}
#scene-matrix .head small{{text-align:center;font-size:.8em;white-space:nowrap}}
#scene-matrix .frame{{position:absolute;inset:-1px;border:2.5px solid currentColor;
border-radius:5px}}
#scene-matrix :is(.above,.below){{height:2.5em;line-height:1.7em}}
#scene-matrix .above{{align-items:start}} #scene-matrix .below{{align-items:end}}
#scene-matrix .out{{display:flex;gap:.4em;align-items:center;white-space:nowrap}}
#scene-matrix .out .num{{width:2em;text-align:right}}
#scene-matrix .bar~.num{{width:auto}}
#scene-matrix .bar{{display:block;height:1.1em;border-radius:3px;background:{WEIGHT};
width:calc(var(--a,var(--z))*var(--s))}}
#scene-matrix .loop{{position:absolute;left:.5em;top:2.6em;bottom:.8em;width:1.5em;
border:2px solid color-mix(in srgb,currentColor 45%,transparent);border-right:0;
border-radius:.9em 0 0 .9em}}
#scene-matrix .loop:after{{content:"";position:absolute;right:-4px;top:-6px;
border:5px solid transparent;border-left:8px solid currentColor;border-right:0;opacity:.6}}
#scene-matrix .loop em{{position:absolute;left:.15em;top:50%;writing-mode:vertical-rl;
font-style:normal;transform:translateY(-50%) rotate(180deg);font-size:.9em;white-space:nowrap}}
"""


def one_matrix(
    words: Sequence[str],
    features: Sequence[str],
    matrix: Float[Tensor, "words features"],
    states: Float[Tensor, "frames features"],
    *,
    question: str = "Which word comes in?",
    first: int = 2,
) -> Scene:
    """Return the matrix with both of its uses: a row out below, all rows as keys above.

    Frame n reads `words[n]`, and `states[n]` is what the layers make of it.
    """
    n_frames, root = len(states), len(features) ** 0.5
    logits = states @ matrix.T
    shares = torch.softmax(logits, dim=-1)
    head = "".join(f"<small>{html.escape(name)}</small>" for name in features)
    asks = "".join(
        f"<div{at(n, first=first)}>{_cells(state, QUERY)}</div>" for n, state in enumerate(states)
    )
    comes_in = "".join(
        f"<div{at(n, first=first)}>{_cells(root * matrix[n], VECTOR)}</div>"
        for n in range(n_frames)
    )
    lines = ""
    for row, word in enumerate(words):
        frame = f"<i{at(row, first=first, more='frame')}></i>" if row < n_frames else ""
        bar = glides([f"{100 * float(share):.0f}" for share in shares[:, row]])
        says = "".join(
            f"<span{at(n, first=first, more='num')}>{share:.2f}</span>"
            for n, share in enumerate(shares[:, row].tolist())
        )
        scores = "".join(
            f"<span{at(n, first=first, more='num')}>{logit:z.1f}</span>"
            for n, logit in enumerate(logits[:, row].tolist())
        )
        start = f"--z:{100 * float(shares[first, row]):.0f};{bar}"
        lines += (
            f'<div class="line"><span>{html.escape(word)}</span>{_cells(matrix[row], KEY, frame)}'
            f'<div class="out">{scores}<i class="bar glides" style="{start}"></i>{says}</div></div>'
        )
    told = [
        f"<i>{html.escape(words[n])}</i> is row {n}: it goes in, times √{len(features)}. The state "
        f"that comes back points most at the row of <i>{html.escape(words[best])}</i>."
        for n, best in enumerate(logits.argmax(dim=1).tolist())
    ]
    return scene(
        "matrix",
        '<div class="loop"><em>the layers</em></div>'
        f'<div class="line head"><span></span><div class="four">{head}</div><div></div></div>'
        f'<div class="line above"><span>state</span><div>{asks}</div>'
        '<div class="out">· each row ↓</div></div>'
        f'{lines}<div class="line below"><span>embedding</span><div>{comes_in}</div>'
        f'<div class="out">= row × √{len(features)}</div></div>',
        question=question,
        choices=[html.escape(word) for word in words[:n_frames]],
        says=told,
        first=first,
        css=_MATRIX_CSS,
    )


def _cells(numbers: Tensor, ink: str, frame: str = "") -> str:
    """A line of numbers, each on a ground that is the stronger the larger it is."""
    cells = "".join(
        f'<b style="background:color-mix(in srgb,{ink} '
        f'{4 + 48 * min(abs(value), 2) / 2:.0f}%,transparent)">{value:z.3g}</b>'
        for value in numbers.tolist()
    )
    return f'<div class="four">{cells}{frame}</div>'.replace(">-", ">−")


_MAP_CSS = """
#scene-words .sky{position:relative;height:25em;margin:1em 2.6em}
#scene-words .sky span{position:absolute;left:calc(var(--a,var(--z))*1%);
top:calc(var(--b,var(--y))*1%);transform:translate(-50%,-50%);padding:0 .4em;border-radius:.8em;
font-size:.88em;white-space:nowrap}
"""


def word_map(
    groups: Mapping[str, Sequence[str]],
    pictures: Mapping[str, Float[Tensor, "words d_model"]],
    *,
    first: int,
    question: str = "When?",
) -> Scene:
    """Return the directions of words, each picture in the plane that shows most of its own spread.

    The rows of a picture stand in the order of the groups' words.
    """
    words = [(word, group) for group, names in enumerate(groups.values()) for word in names]
    widths = torch.tensor([3.2 + 2 * len(word) for word, _ in words])  # per cent of a phone's sky
    places = [_apart(_in_the_plane(rows), widths) for rows in pictures.values()]
    drawn = ""
    for row, (word, group) in enumerate(words):
        across, down = ([f"{spot[row, axis]:.1f}" for spot in places] for axis in (0, 1))
        style = f"--z:{across[first]};--y:{down[first]};{glides(across, down)}"
        ink = f"color-mix(in srgb,{CATEGORIES[group % len(CATEGORIES)]} 38%,transparent)"
        drawn += f'<span class="glides" style="background:{ink};{style}">{html.escape(word)}</span>'
    told = "; ".join(f"{name}: {', '.join(names)}" for name, names in groups.items())
    return scene(
        "words",
        f'<div class="sky">{drawn}</div>',
        question=question,
        choices=list(pictures),
        first=first,
        description=f"{len(words)} words as places in a plane, a colour a group. {told}.",
        css=_MAP_CSS,
    )


def _in_the_plane(rows: Float[Tensor, "words d_model"]) -> Float[Tensor, "words 2"]:
    """Return where directions lie in the plane of their largest spread, each axis from 0 to 100."""
    directions = torch.nn.functional.normalize(rows, dim=-1)
    centred = directions - directions.mean(0)
    spots = centred @ torch.linalg.svd(centred, full_matrices=False)[2][:2].T
    low, high = spots.min(0).values, spots.max(0).values
    return 100 * (spots - low) / (high - low)


def _apart(
    spots: Float[Tensor, "words 2"], widths: Float[Tensor, " words"], height: float = 5.4
) -> Float[Tensor, "words 2"]:
    """Return the places with labels moved up or down until none covers another."""
    across, down = spots.T.clone()
    beside = (across[:, None] - across).abs() < (widths[:, None] + widths) / 2
    for _ in range(500):
        gaps = down[:, None] - down
        covered = (height - gaps.abs()).clamp(min=0) * beside.fill_diagonal_(False)
        if covered.max() < 0.1:
            break
        down = (down + (covered * gaps.sign()).sum(1) / 4).clamp(0, 100)
    return torch.stack([across, down], dim=1)


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
