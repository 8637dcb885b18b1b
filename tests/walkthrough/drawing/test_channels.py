"""Names are told apart by more than colour, and no parameter has a name that Vega keeps."""

import re
from pathlib import Path

import altair as alt
import pytest

import walkthrough
from walkthrough.drawing.channels import (
    RESERVED,
    cell_choice,
    cycled,
    line_channels,
    menu,
    number_slider,
    point_channels,
)
from walkthrough.drawing.style import CATEGORIES, DASHES

MODULES = sorted(Path(walkthrough.__file__).parent.rglob("*.py"))
PARAMETER = re.compile(
    r"""(?:alt\.param|menu|number_slider|cell_choice|selection_\w+)\(\s*(?:name\s*=\s*)?["'](\w+)["']"""
)


def parameters(text):
    """The names of the parameters that a module makes."""
    return PARAMETER.findall(text)


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.stem)
def test_no_parameter_has_a_name_that_vega_reserves(module):
    assert not RESERVED & set(parameters(module.read_text(encoding="utf-8")))


def test_that_test_sees_the_names():
    assert parameters('alt.param(\n    "width", value=1)\nmenu("height", [1], "")') == [
        "width",
        "height",
    ]
    assert sum(len(parameters(path.read_text(encoding="utf-8"))) for path in MODULES) > 25


def test_a_menu_begins_with_its_first_option_or_another_and_has_no_reserved_name():
    first, other = menu("layer", [1, 2], "layer "), menu("layer", (1, 2), "layer ", start=2)
    assert (first.param.value, other.param.value) == (1, 2)
    assert first.param.bind.to_dict() == {"input": "select", "options": [1, 2], "name": "layer "}
    with pytest.raises(ValueError, match="reserves 'width'"):
        menu("width", [1], "width ")


def test_a_cell_is_chosen_by_a_click_or_by_menus_and_one_is_always_chosen():
    menus = {"row": ("row ", ["a", "b"]), "column": ("column ", (1, 2))}
    chosen = cell_choice("cell", menus, {"row": "b", "column": 2, "value": 0.5}).param.to_dict()
    assert chosen["value"] == [{"row": "b", "column": 2}]
    assert chosen["bind"]["column"] == {"input": "select", "options": [1, 2], "name": "column "}
    select = chosen["select"]
    assert (select["fields"], select["on"]) == (["row", "column"], "click")
    assert (select["toggle"], select["clear"]) == (False, False)
    with pytest.raises(ValueError, match="reserves 'width'"):
        cell_choice("width", menus, {"row": "a", "column": 1})


@pytest.mark.parametrize("n", [2, 9])
def test_each_name_has_a_colour_and_a_dash_or_a_shape(n):
    names = [f"run {number}" for number in range(n)]
    legend = alt.Legend(title=None)
    for channels in (line_channels, point_channels):
        for channel in channels("run:N", names, legend):
            scale = channel.to_dict()["scale"]
            assert scale["domain"] == names
            assert len(scale["range"]) == n
    colour, dash = line_channels("run:N", names, legend)
    assert colour.to_dict()["scale"]["range"] == cycled(CATEGORIES, n)
    assert dash.to_dict()["scale"]["range"] == cycled(DASHES, n)


def test_menus_and_sliders_start_at_something_they_offer():
    chosen = number_slider("k", "offset ", 8, start=2).param
    assert chosen.value == 2
    assert chosen.bind.to_dict() == {
        "input": "range",
        "min": 0,
        "max": 8,
        "step": 1,
        "name": "offset ",
    }
    with pytest.raises(ValueError, match=r"'layer' must start at one of \[1, 2\], got 3"):
        menu("layer", [1, 2], "layer ", start=3)
    with pytest.raises(ValueError, match=r"'k' must start in \[0, 8\], got 9"):
        number_slider("k", "offset ", 8, start=9)
    with pytest.raises(ValueError, match="reserves 'width'"):
        number_slider("width", "width ", 8, start=1)
