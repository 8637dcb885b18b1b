"""The drawing of the operation and the plane of keys show what they say."""

import inspect
import re
from xml.etree import ElementTree

import pytest
from chart_specs import inputs, rows, spec, views

from transformer.attention import scaled_dot_product_attention
from walkthrough.ch02_scaled_dot_product_attention.figures import data_flow, plane_explorer
from walkthrough.ch02_scaled_dot_product_attention.figures.flow import HEIGHT, STAGES

KEYS = {"a": (1.0, 0.0), "b": (0.0, 1.0)}


def squeezed(code):
    return re.sub(r"\s", "", code)


def test_every_line_of_the_drawing_stands_in_the_package():
    """In its order: the drawing goes from below to above, as the code goes down."""
    source = squeezed(inspect.getsource(scaled_dot_product_attention))
    places = [source.index(squeezed("".join(stage.code))) for stage in STAGES]
    assert places == sorted(places)


def test_the_drawing_is_well_formed_and_its_boxes_stay_apart():
    ElementTree.fromstring(data_flow()._repr_html_())
    for above, below in zip(STAGES[1:], STAGES[:-1], strict=True):
        assert 0 <= above.y < above.y + 30 < below.y < HEIGHT


def test_the_plane_holds_the_keys_and_two_sliders():
    chart = plane_explorer(KEYS)
    assert set(inputs(chart)) == {"angle", "size"}
    drawn = [rows(view) for view in views(spec(chart))]
    assert any({row.get("key") for row in data} == {"a", "b"} for data in drawn)


def test_a_plane_without_keys_is_refused():
    with pytest.raises(ValueError, match="at least one key; got none"):
        plane_explorer({})
