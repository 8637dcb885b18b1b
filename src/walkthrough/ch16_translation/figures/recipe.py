"""The experiments of chapter 16 as figures: seeds, and what captions were read."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

import altair as alt
import torch

from walkthrough.drawing.attention import attention_viewer
from walkthrough.drawing.still import Still, canvas, still
from walkthrough.drawing.style import PALETTE


def seed_picture(
    rows: Mapping[str, Sequence[float]],
    published: Mapping[str, float],
    *,
    title: str = "A dot a seed, and their mean",
    x_title: str = "BLEU on the 1 000 captions of 2016",
) -> Still:
    """Return the scores of each row's seeds, rows below each other, with published ones as lines.

    Raises:
        ValueError: there are no rows.
    """
    if not rows:
        raise ValueError("a picture of seeds needs at least one row, got none")
    with canvas(400, 110 + 34 * len(rows)) as (figure, ax):
        for style, (name, bleu) in zip(("--", ":"), published.items(), strict=False):
            ax.axvline(bleu, color="black", lw=1.2, ls=style, label=f"{name}: {bleu}")
        for place, found in enumerate(rows.values()):
            heights = [place] * len(found)
            ax.plot(found, heights, "o", color=PALETTE["blue"], markersize=7, alpha=0.6)
            ax.plot([fmean(found)], [place], "|", color=PALETTE["blue"], markersize=24, mew=2.5)
        ax.set_yticks(range(len(rows)), list(rows))
        ax.set_ylim(len(rows) - 0.5, -0.5)
        ax.margins(x=0.08)
        ax.set_xlabel(x_title)
        ax.grid(axis="x")
        ax.tick_params(axis="y", length=0)
        figure.suptitle(title, x=0.01, ha="left", fontweight="semibold", fontsize=13)
        figure.legend(loc="outside lower left", ncols=1, fontsize=12)
    told = "; ".join(f"{name}: {', '.join(f'{b:.2f}' for b in r)}" for name, r in rows.items())
    lines = "; ".join(f"{name} {bleu}" for name, bleu in published.items())
    return still(figure, alt=f"{title}. {x_title}. {told}. Published, as lines: {lines}.")


def caption_viewer(
    sentences: Sequence[Mapping[str, Any]],
    *,
    title: str = "What did the last layer look at for each piece?",
    label: str = "caption ",
) -> alt.LayerChart:
    """Return what the heads of the last layer saw for each translated caption, by menus.

    `sentences` is what `own_captions.translated` returns. A row is the position that predicts its
    piece, a column a piece of the caption.

    Raises:
        ValueError: there are no sentences.
    """
    if not sentences:
        raise ValueError("a viewer of captions needs at least one, got none")
    names = [f"{n} {_begun(one['english'])}" for n, one in enumerate(sentences, start=1)]
    return attention_viewer(
        {
            # weights were rounded; a weight of 0 in every head would be drawn as a closed position
            name: torch.tensor(one["attention"])[None].clamp(min=1e-6)
            for name, one in zip(names, sentences, strict=True)
        },
        {name: one["written"] for name, one in zip(names, sentences, strict=True)},
        {name: one["read"] for name, one in zip(names, sentences, strict=True)},
        title=title,
        kind_label=label,
    )


def _begun(caption: str, n_words: int = 4) -> str:
    words = caption.split()
    return " ".join(words[:n_words]) + (" …" if len(words) > n_words else "")
