"""Still pictures: trees read out of maps, and captions with fewer heads."""

from collections.abc import Mapping, Sequence

from walkthrough.drawing.still import Still, canvas, still
from walkthrough.drawing.style import PALETTE

LOST = {"one out": "o", "one left": "s", "none left": "D"}


def causes_chart(right: Mapping[str, Sequence[float]], *, title: str) -> Still:
    """Return what stays right in each training: a bar for each look that is closed."""
    with canvas(420, 190) as (figure, axis):
        for n, (name, shares) in enumerate(right.items()):
            places = [place + 0.4 * (n - 0.5) for place in range(1, len(shares) + 1)]
            colour, percent = PALETTE[("blue", "ochre")[n]], [100 * share for share in shares]
            axis.bar(places, percent, width=0.36, color=colour, label=name)
        axis.set(xticks=range(1, len(shares) + 1), yticks=(0, 50, 100), ylim=(0, 100))
        axis.set(xlabel="training", ylabel="still right, of 100", title=title)
        figure.legend(loc="outside lower center", ncols=2)
    said = "; ".join(
        f"{name}: {', '.join(f'{100 * share:.0f}' for share in shares)}"
        for name, shares in right.items()
    )
    return still(figure, alt=f"{title}. {said}.")


def tree_chart(
    f1: Mapping[str, Mapping[str, Sequence[float]]], lines: Mapping[str, float], *, title: str
) -> Still:
    """Return F1 of trees by language: a row for who made them, a dot a seed, a line to pass."""
    names = list(next(iter(f1.values())))
    with canvas(420, 90 + 32 * len(names), ncols=len(f1), sharey=True, squeeze=False) as (
        figure,
        axes,
    ):
        for axis, (language, rows) in zip(axes[0], f1.items(), strict=True):
            axis.axvline(lines[language], color=PALETTE["vermilion"], linewidth=2)
            for place, name in enumerate(names):
                colour = PALETTE["grey" if name.startswith("untrained") else "blue"]
                axis.plot(rows[name], [place] * len(rows[name]), "o", color=colour, alpha=0.55)
            axis.set(xlim=(20, 60), xticks=(30, 40, 50), xlabel=f"F1, {language.title()}")
            axis.grid(axis="x")
        axes[0][0].set_yticks(range(len(names)), names)
        axes[0][0].invert_yaxis()
        axes[0][0].set_title(title)
    said = "; ".join(
        f"{language}: line {lines[language]:.1f}, "
        + ", ".join(f"{name} {min(v):.1f} to {max(v):.1f}" for name, v in rows.items())
        for language, rows in f1.items()
    )
    return still(figure, alt=f"{title}. {said}.")


def captions_chart(rows: Sequence[Mapping[str, object]], *, title: str) -> Still:
    """Return the points that next words lose, layer by layer: a mark a head and seed."""
    with canvas(420, 100 + 25 * len(rows)) as (figure, axis):
        for number, (name, marker) in enumerate(LOST.items()):
            for place, row in enumerate(rows):
                lost = row[name]
                axis.plot(
                    lost,
                    [place + 0.25 * (number - 1)] * len(lost),  # type: ignore[arg-type]
                    marker,
                    color=[PALETTE[c] for c in ("sky", "ochre", "vermilion")][number],
                    markersize=5,
                    alpha=0.55,
                    label=name if not place else None,
                )
        axis.set_yticks(range(len(rows)), [str(row["layer"]) for row in rows])
        axis.invert_yaxis()
        axis.set(xlabel="points lost", title=title)
        axis.grid(axis="x")
        figure.legend(loc="outside lower center", ncols=3)
    said = "; ".join(
        f"{row['layer']}: "
        + ", ".join(f"{name} {min(row[name]):.1f} to {max(row[name]):.1f}" for name in LOST)  # type: ignore[call-overload]
        for row in rows
    )
    return still(figure, alt=f"{title}. {said}.")
