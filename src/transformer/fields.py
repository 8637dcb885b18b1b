"""Typed settings: what a field may hold, and how text from a file or an option becomes a value.

The dataclasses of settings state each field's type once; this module holds values to it, whether
they come from Python, from TOML or from the command line.
"""

import difflib
import sys
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

RULES = {
    bool: "true or false",
    int: "a whole number",
    float: "a finite number",
    str: "text that UTF-8 can write",
}
SPELLINGS = {
    **dict.fromkeys(("true", "yes", "on", "1"), True),
    **dict.fromkeys(("false", "no", "off", "0"), False),
}


def check_types(settings: object) -> None:
    """Raise ValueError unless every field of a dataclass holds what its annotation says.

    A bool is no number, a whole number is a number, NaN and infinity are not.
    """
    cls: type = type(settings)
    for name, (kind, optional) in _kinds(cls).items():
        value = getattr(settings, name)
        if not (_fits(value, kind) or (optional and value is None)):
            raise ValueError(f"{name} must be {_rule(kind, optional)}, got {value!r}")


def read_values(section: str, cls: type, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings as the types of their fields: "no" is false, "none" None, 1e3 is 1000.

    Raises:
        ValueError: `cls` has no field of a name, or the text does not spell its type.
    """
    kinds = _kinds(cls)
    check_names(section, values, kinds)
    read = {}
    for name, value in values.items():
        kind, optional = kinds[name]
        read[name] = _read(value, kind, optional)
        if not (_fits(read[name], kind) or (optional and read[name] is None)):
            raise ValueError(f"{section}.{name} must be {_rule(kind, optional)}, got {value!r}")
        if kind is float and read[name] is not None:
            read[name] = float(read[name])  # of a whole number
    return read


def check_names(section: str, names: Iterable[str], known: Iterable[str]) -> None:
    """Raise ValueError for names that are not known, with the near ones."""
    known = sorted(known)
    unknown = sorted(set(names) - set(known))
    near = [word for name in unknown for word in difflib.get_close_matches(name, known)]
    if unknown:
        hint = f"did you mean {' or '.join(near)}" if near else f"known: {', '.join(known)}"
        raise ValueError(f"{section} has no {unknown}; {hint}")


@cache
def _kinds(cls: Any) -> dict[str, tuple[type, bool]]:
    """Return each field's type, and whether None is allowed; a choice of words is text."""
    kinds = {}
    for name, hint in get_type_hints(cls).items():
        is_union = get_origin(hint) in (Union, UnionType)
        options = [option for option in get_args(hint) if option is not NoneType]
        kind = options[0] if is_union else hint
        kinds[name] = (str if get_origin(kind) is Literal else kind, is_union)
    return kinds


def _fits(value: object, kind: type) -> bool:
    if isinstance(value, bool) or kind is bool:
        return isinstance(value, bool) and kind is bool
    if kind is float:
        return isinstance(value, int | float) and abs(value) <= sys.float_info.max
    if kind is str:
        return isinstance(value, str) and value == value.encode(errors="ignore").decode()
    return isinstance(value, kind)


def _rule(kind: type, optional: bool) -> str:
    return RULES[kind] + (", or none" if optional else "")


def _read(value: Any, kind: type, optional: bool) -> Any:
    if isinstance(value, str):
        if optional and value.strip().lower() == "none":
            return None
        if kind is str:
            return _unquoted(value.strip())
        if kind is bool:
            return SPELLINGS.get(value.strip().lower(), value)
        try:
            value = int(value)
        except ValueError:
            try:
                value = float(value)
            except ValueError:
                return value
    if kind is int and isinstance(value, float) and value.is_integer():
        return int(value)  # 1e5
    return value


def _unquoted(text: str) -> str:
    if text[:1] in ("'", '"') and text[:1] == text[-1:]:
        try:
            return str(tomllib.loads(f"text = {text}")["text"])
        except tomllib.TOMLDecodeError:
            pass
    return text
