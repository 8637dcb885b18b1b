"""What several figures share: named series that differ in more than colour, and menus."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from walkthrough.drawing.style import CATEGORIES, DASHES

SHAPES = ["circle", "square", "triangle-up", "diamond"]
RESERVED = frozenset({"width", "height", "padding", "autosize", "background", "style"})
"""Names that Vega keeps for itself: a parameter of that name breaks the chart."""


def cycled(values: Sequence[Any], n: int) -> list[Any]:
    """Return the first n values, from the beginning again where there are fewer."""
    return [values[i % len(values)] for i in range(n)]


def line_channels(
    field: str,
    names: Sequence[str],
    legend: alt.Legend | None,
    *,
    colours: Sequence[str] = CATEGORIES,
) -> tuple[alt.Color, alt.StrokeDash]:
    """Return colour and dash by name, for lines that must not differ in colour alone."""
    return (
        alt.Color(field, scale=_scale(names, colours), legend=legend),
        alt.StrokeDash(field, scale=_scale(names, DASHES), legend=legend),
    )


def point_channels(
    field: str, names: Sequence[str], legend: alt.Legend | None, *, shapes: Sequence[str] = SHAPES
) -> tuple[alt.Color, alt.Shape]:
    """Return colour and shape by name, for points that must not differ in colour alone."""
    return (
        alt.Color(field, scale=_scale(names, CATEGORIES), legend=legend),
        alt.Shape(field, scale=_scale(names, shapes), legend=legend),
    )


def _scale(names: Sequence[str], values: Sequence[Any]) -> alt.Scale:
    return alt.Scale(domain=list(names), range=cycled(values, len(names)))


def _check_name(name: str) -> None:
    if name in RESERVED:
        raise ValueError(f"Vega reserves {name!r}: give the parameter another name")


def menu(name: str, options: Sequence[Any], label: str, *, start: Any = None) -> alt.Parameter:
    """Return a parameter that a menu sets, at first to `start` or else to the first option.

    Raises:
        ValueError: a name that Vega reserves, or a start that is not among the options.
    """
    _check_name(name)
    chosen = options[0] if start is None else start
    if chosen not in options:
        raise ValueError(f"{name!r} must start at one of {list(options)}, got {chosen!r}")
    return alt.param(name, value=chosen, bind=alt.binding_select(options=list(options), name=label))


def cell_choice(
    name: str, menus: Mapping[str, tuple[str, Sequence[Any]]], start: Mapping[str, Any]
) -> alt.Parameter:
    """Return the choice of one cell of a map: by a click on it, or by a menu for each field.

    `menus` holds, for each field that tells the cells apart, the menu's label and its options;
    `start` is the cell that is chosen at first.

    Raises:
        ValueError: a name that Vega reserves.
    """
    _check_name(name)
    return alt.selection_point(
        name=name,
        fields=list(menus),
        on="click",
        toggle=False,
        clear=False,
        empty=False,
        value=[{field: start[field] for field in menus}],
        bind={  # type: ignore[arg-type]  # Altair's types know one input only
            field: alt.binding_select(options=list(options), name=label)
            for field, (label, options) in menus.items()
        },
    )


def number_slider(
    name: str,
    label: str,
    largest: float | int,
    *,
    start: float | int,
    smallest: float | int = 0,
    step: float | int = 1,
) -> alt.Parameter:
    """Return a parameter that a slider sets, at first to `start`.

    Raises:
        ValueError: a name that Vega reserves, or a start that is not on the slider.
    """
    _check_name(name)
    if not smallest <= start <= largest:
        raise ValueError(f"{name!r} must start in [{smallest}, {largest}], got {start}")
    bind = alt.binding_range(min=smallest, max=largest, step=step, name=label)
    return alt.param(name, value=start, bind=bind)
