"""Still pictures of what differs by seed: looks, hidden edges, roles of heads, trees."""

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any

import seaborn

from walkthrough.drawing.still import WEIGHT_SCHEME, Still, canvas, still
from walkthrough.drawing.style import PALETTE

Rows = Sequence[Mapping[str, Any]]

MARKERS = {
    "nothing": ("o", PALETTE["grey"]),
    "a neighbour": ("s", PALETTE["sky"]),
    "edge": ("D", PALETTE["vermilion"]),
    "edge and cross": ("^", PALETTE["green"]),
    "all three": ("v", PALETTE["purple"]),
}
"""What is drawn of the things hidden: marker and colour."""


def looks_chart(
    rows: Rows, *, title: str = "Who finds the answer: the best head, or a fixed distance?"
) -> Still:
    """Return, for each relation, a dot a seed for the best head, and a tick for the distance.

    Each row has relation, head (share of the best head) and offset (share of the best distance).
    """
    names = list(dict.fromkeys(row["relation"] for row in rows))
    with canvas(420, 60 + 34 * len(names)) as (figure, axes):
        seaborn.stripplot(
            x=[row["head"] for row in rows],
            y=[row["relation"] for row in rows],
            order=names,
            jitter=0.18,
            size=7,
            color=PALETTE["vermilion"],
            ax=axes,
        )
        for place, name in enumerate(names):
            at = mean(row["offset"] for row in rows if row["relation"] == name)
            axes.plot([at, at], [place - 0.35, place + 0.35], color=PALETTE["blue"], linewidth=3)
        axes.set(xlim=(0, 1.02), xlabel="answer found\n(dot: best head of a seed; bar: distance)")
        axes.set_title(title, fontsize=11, wrap=True)
        axes.set_ylabel("")
        axes.grid(axis="x")
    said = "; ".join(
        f"{name}: heads {_span([r['head'] for r in rows if r['relation'] == name])}, distance "
        f"{mean(r['offset'] for r in rows if r['relation'] == name):.2f}"
        for name in names
    )
    return still(figure, alt=_in_words(title, said))


def hidden_chart(
    rows: Rows, *, title: str = "The right word, when looks at the answer are hidden"
) -> Still:
    """Return, for each relation, how often the right word is ahead when something is hidden.

    Each row has relation, hidden (a key of `MARKERS`) and right; several seeds are several rows.
    """
    names = list(dict.fromkeys(row["relation"] for row in rows))
    with canvas(420, 110 + 44 * len(names)) as (figure, axes):
        for number, (label, (marker, colour)) in enumerate(MARKERS.items()):
            chosen = [row for row in rows if row["hidden"] == label]
            shift = 0.16 * (number - 2)
            axes.scatter(
                [row["right"] for row in chosen],
                [names.index(row["relation"]) + shift for row in chosen],
                marker=marker,
                color=colour,
                s=34,
                alpha=0.85,
                label=label,
            )
        axes.set_yticks(range(len(names)), names)
        axes.invert_yaxis()
        axes.set(xlim=(-0.02, 1.03), xlabel="right word ahead; one mark a seed")
        axes.set_title(title, fontsize=11, wrap=True)
        axes.grid(axis="x")
        figure.legend(loc="outside lower center", ncols=2)
    said = "; ".join(f"{name}: {_hidden_in_words(rows, name)}" for name in names)
    return still(figure, alt=_in_words(title, said))


def _hidden_in_words(rows: Rows, name: str) -> str:
    by_label = {
        label: [row["right"] for row in rows if (row["relation"], row["hidden"]) == (name, label)]
        for label in MARKERS
    }
    return ", ".join(f"{label} {_span(shares)}" for label, shares in by_label.items())


def role_map(
    shares: Mapping[str, Mapping[str, float]],
    *,
    title: str = "A column a head: which answers does it look at?",
    x_title: str = "all heads, alike ones side by side",
) -> Still:
    """Return heads of all seeds as columns, ordered by what they look at, and relations as rows.

    `shares[relation][head]` is how often a head's largest weight is on the answer.
    """
    names, heads = list(shares), list(next(iter(shares.values())))
    ordered = sorted(heads, key=lambda head: _role(shares, head))
    values = [[shares[name][head] for head in ordered] for name in names]
    with canvas(420, 130 + 26 * len(names)) as (figure, axes):
        seaborn.heatmap(
            values,
            cmap=WEIGHT_SCHEME,
            vmin=0,
            vmax=1,
            xticklabels=False,
            yticklabels=names,
            cbar_kws={"orientation": "horizontal", "label": "share on the answer", "aspect": 40},
            rasterized=True,
            ax=axes,
        )
        axes.set_title(title, fontsize=11, wrap=True)
        axes.set_xlabel(x_title)
    best = "; ".join(f"{name}: {max(shares[name].values()):.2f}" for name in names)
    return still(
        figure,
        alt=f"{title} Heat map of {len(heads)} heads and {len(names)} relations. The best of each "
        f"relation: {best}.",
    )


def _role(shares: Mapping[str, Mapping[str, float]], head: str) -> tuple[bool, int, float]:
    """Return what orders heads: first those that find something, by what they find best."""
    column = [by_head[head] for by_head in shares.values()]
    best = max(range(len(column)), key=column.__getitem__)
    return (column[best] < 0.5, best, -column[best])


def tree_chart(
    rows: Rows, *, title: str = "Trees out of attention, beside trees that look at nothing"
) -> Still:
    """Return F1 of trees: each row has language, of (what made them) and f1, a seed each."""
    names = list(dict.fromkeys(row["of"] for row in rows))
    languages = list(dict.fromkeys(row["language"] for row in rows))
    with canvas(420, 90 + 30 * len(names)) as (figure, axes):
        seaborn.stripplot(
            x=[row["f1"] for row in rows],
            y=[row["of"] for row in rows],
            hue=[row["language"] for row in rows],
            hue_order=languages,
            order=names,
            dodge=True,
            jitter=0.08,
            size=7,
            palette=[PALETTE["vermilion"], PALETTE["blue"]][: len(languages)],
            ax=axes,
        )
        axes.set(xlim=(0, 1), xlabel="unlabelled F1", ylabel="")
        axes.set_title(title, fontsize=11, wrap=True)
        axes.grid(axis="x")
        axes.legend(title=None, loc="lower right")
    said = "; ".join(
        f"{name}, {language}: "
        + _span([r["f1"] for r in rows if r["of"] == name and r["language"] == language])
        for name in names
        for language in languages
    )
    return still(figure, alt=_in_words(title, said))


def _in_words(title: str, said: str) -> str:
    return f"{title}{'' if title.endswith('?') else '.'} {said}."


def _span(values: Sequence[float]) -> str:
    low, high = min(values), max(values)
    return f"{low:.2f}" if f"{low:.2f}" == f"{high:.2f}" else f"{low:.2f} to {high:.2f}"
