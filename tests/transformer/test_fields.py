import sys
from dataclasses import dataclass
from typing import Literal

import pytest

from transformer.fields import check_types, read_values


@dataclass
class Settings:
    number: int = 1
    rate: float = 0.5
    limit: float | None = None
    on: bool = True
    folder: str = "a"
    kind: Literal["x", "y"] = "x"


@pytest.mark.parametrize(
    "values",
    [
        {"rate": sys.float_info.max},
        {"rate": -sys.float_info.max},
        {"rate": 3},
        {"limit": None},
        {"limit": 0.25},
        {"on": False},
        {"folder": "Käfer 🐞"},
        {"kind": "z"},  # which words are allowed is the dataclass's own check
    ],
)
def test_what_fits_its_field(values):
    check_types(Settings(**values))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"number": True}, "number must be a whole number, got True"),
        ({"number": None}, "number must be a whole number, got None"),
        ({"rate": 2**1024}, "rate must be a finite number, got 1797"),
        ({"rate": "0.5"}, "rate must be a finite number, got '0.5'"),
        ({"limit": float("nan")}, "limit must be a finite number, or none, got nan"),
        ({"on": 1}, "on must be true or false, got 1"),
        ({"folder": 3}, "folder must be text that UTF-8 can write, got 3"),
        ({"folder": "a\ud800"}, "folder must be text that UTF-8 can write, got 'a"),
        ({"kind": 3}, "kind must be text that UTF-8 can write, got 3"),
    ],
)
def test_what_does_not_fit_its_field(values, message):
    with pytest.raises(ValueError, match=message):
        check_types(Settings(**values))


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("number", "1e3", 1000),
        ("rate", " 2 ", 2.0),
        ("limit", "None", None),
        ("limit", "3", 3.0),
        ("on", " NO ", False),
        ("folder", "none", "none"),
        ("folder", "1e1", "1e1"),  # no quotes, so no TOML
        ("folder", "", ""),
        ("folder", "'a b'", "a b"),
        ("folder", '"a\\tb"', "a\tb"),
        ("folder", "\"a'", "\"a'"),
        ("folder", '"a" and "b"', '"a" and "b"'),
    ],
)
def test_text_becomes_what_its_field_holds(name, text, value):
    read = read_values("section", Settings, {name: text})
    assert read == {name: value}
    assert type(read[name]) is type(value)


@pytest.mark.parametrize("name", ["number", "rate", "on"])
def test_none_is_for_fields_that_may_be_none(name):
    with pytest.raises(ValueError, match=rf"section\.{name} must be .*, got 'none'"):
        read_values("section", Settings, {name: "none"})


def test_a_name_that_is_unknown_comes_with_those_that_are_near():
    with pytest.raises(ValueError, match=r"^s has no \['numbr'\]; did you mean number$"):
        read_values("s", Settings, {"numbr": 1})
    with pytest.raises(ValueError, match=r"^s has no \['zzz'\]; known: folder, kind, limit, "):
        read_values("s", Settings, {"zzz": 1})
