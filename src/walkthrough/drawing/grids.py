"""Grids of cells side by side: masks, which outputs move, weights."""

import html
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Int, Shaped
from torch import Tensor

from walkthrough.drawing.look import HATCH, SHUT
from walkthrough.drawing.maps import check_tokens
from walkthrough.drawing.scene import Scene, glides, scene
from walkthrough.drawing.style import CATEGORIES, WEIGHT

_CSS = f"""
figure.scene .stage:has(>.cells){{display:flex;flex-wrap:wrap;gap:1.2em 1.8em}}
.cells{{--h:1.3em;display:grid;grid-template-columns:auto repeat(var(--n),var(--h));gap:2px;
align-items:center;align-content:start}}
@container(min-width:460px){{.cells{{font-size:.86em}}}}
.cells strong{{grid-column:1/-1;font-weight:650;padding-bottom:.2em}}
.cells b{{font-weight:500;text-align:right;padding-right:.4em}}
.cells em{{font-style:normal;writing-mode:vertical-rl;transform:rotate(180deg);justify-self:center;
align-self:end;padding-top:.3em}}
.cells small{{align-self:end;justify-self:end;padding:0 .5em .2em 0;opacity:.8;text-align:right}}
.cells span{{box-sizing:border-box;height:var(--h);border:1px solid {SHUT};border-radius:3px;
background:{HATCH}}}
.weights span{{background:color-mix(in srgb,{WEIGHT} 7%,transparent);border-color:transparent}}
.cells i{{display:block;height:0;margin:-1px;border:solid var(--b,{WEIGHT});
border-width:calc(var(--h)/2) 0;border-radius:3px;background:var(--b,{WEIGHT});
opacity:var(--a,var(--z))}}
@container(min-width:780px){{.cells{{--h:1.7em;font-size:1em}}}}
"""


@dataclass(frozen=True)
class Grid:
    """One grid: its title, what stands beside its rows and columns, and a mask a frame.

    A mask may hold weights from 0 to 1 in place of booleans. `colours` holds, for each frame, the
    number in `CATEGORIES` of each cell's colour.
    """

    title: str
    rows: Sequence[str]
    columns: Sequence[str]
    masks: Sequence[Shaped[Tensor, "rows columns"]]
    colours: Sequence[Int[Tensor, "rows columns"]] = ()


def grids(
    name: str,
    shown: Sequence[Grid],
    *,
    corner: str = "asks ↓<br>asked →",
    words: str = "open",
    question: str = "",
    choices: Sequence[str] = (),
    says: Sequence[str] = (),
    first: int = 0,
    css: str = "",
) -> Scene:
    """Return grids side by side: a cell is as strong as its weight; one that is False is hatched.

    With `choices`, each grid has a mask for every one of them, and buttons choose.

    Raises:
        ValueError: a mask does not fit its words, or there is not a mask a frame.
    """
    for grid in shown:
        for mask in grid.masks:
            check_tokens(mask.shape, grid.rows, grid.columns)
        if len(grid.masks) != max(len(choices), 1):
            raise ValueError(f"{grid.title}: {len(grid.masks)} masks for {len(choices)} choices")
    counts = [
        f"{grid.title} {choice}: {int((mask > 0.5).sum())} of {mask.numel()}".replace(" :", ":")
        for grid in shown
        for choice, mask in zip(choices or [""], grid.masks, strict=True)
    ]
    return scene(
        name,
        "".join(_cells(grid, corner, first) for grid in shown),
        question=question,
        choices=choices,
        says=says,
        first=first,
        description=f"Grids of cells; {words} are: {'; '.join(counts)}.",
        css=_CSS + css,
    )


def _cells(grid: Grid, corner: str, first: int) -> str:
    body = f"<strong>{html.escape(grid.title)}</strong><small>{corner}</small>"
    body += "".join(f"<em>{html.escape(word)}</em>" for word in grid.columns)
    for row, word in enumerate(grid.rows):
        body += f"<b>{html.escape(word)}</b>"
        for column in range(len(grid.columns)):
            values = [f"{float(mask[row, column]):.2g}" for mask in grid.masks]
            inks = [CATEGORIES[int(colour[row, column])] for colour in grid.colours]
            style = f"--z:{values[first]};{glides(values, inks)}"
            body += f'<span><i class="glides" style="{style}"></i></span>'
    kind = "cells" if grid.masks[0].dtype == torch.bool else "cells weights"
    return f'<div class="{kind}" style="--n:{len(grid.columns)}">{body}</div>'
