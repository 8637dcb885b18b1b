"""Runs as dots, a dot a seed: scores beside published ones, outputs beside their references."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from walkthrough.drawing.still import Still, canvas, still
from walkthrough.drawing.style import CATEGORIES

Rows = Mapping[str, Sequence[float]]  # the values of its runs, by the name of the row


def dots(
    groups: Mapping[str, Rows],
    *,
    title: str,
    x_title: str,
    line: float | None = None,
    marks: Mapping[str, tuple[str, float]] | None = None,
) -> Still:
    """Return rows of dots, a dot a run and a stroke for their mean, in a colour a group.

    `line` crosses all rows; `marks` are single values by name, each in its row.

    Raises:
        ValueError: there are no groups.
    """
    if not groups:
        raise ValueError("a picture of runs needs at least one group, got none")
    names = list(dict.fromkeys(row for rows in groups.values() for row in rows))
    with canvas(340, 96 + 34 * len(names) + 18 * (len(groups) + len(marks or ()))) as (figure, ax):
        if line is not None:
            ax.axvline(line, color="black", lw=1.2)
        for n, (group, rows) in enumerate(groups.items()):
            shift = 0.22 * (n - (len(groups) - 1) / 2)
            for row, values in rows.items():
                y, label = names.index(row) + shift, group if row == next(iter(rows)) else None
                ax.plot(values, [y] * len(values), "o", color=CATEGORIES[n], ms=6, label=label)
                ax.plot([fmean(values)], [y], "|", color=CATEGORIES[n], ms=15, mew=2)
        for (name, (row, value)), shape in zip((marks or {}).items(), "Dsv", strict=False):
            ax.plot([value], [names.index(row)], shape, color="black", ms=6, label=name)
        ax.set_yticks(range(len(names)), names)
        ax.set_ylim(len(names) - 0.5, -0.5)
        ax.set_xlabel(x_title)
        ax.grid(axis="x")
        ax.tick_params(axis="y", length=0)
        figure.suptitle(title, x=0.01, ha="left", fontweight="semibold", fontsize=13)
        figure.legend(loc="outside lower left", ncols=1)
    told = "; ".join(
        f"{group}, {row}: {', '.join(f'{value:.4g}' for value in values)}"
        for group, rows in groups.items()
        for row, values in rows.items()
    )
    also = "".join(f"; {name}, {row}: {x:.4g}" for name, (row, x) in (marks or {}).items())
    return still(figure, alt=f"{title}. {x_title}. {told}{also}.")
