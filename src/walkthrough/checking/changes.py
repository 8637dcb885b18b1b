"""Tell whether a call left its arguments as they were, tensors inside of them included."""

import inspect
from collections.abc import Callable, Mapping
from numbers import Number
from typing import Any

from torch import Tensor, nn

from walkthrough.checking.cases import Arguments
from walkthrough.checking.compare import same
from walkthrough.checking.kinds import noun


def change_said(function: Callable[..., Any], before: Arguments, after: Arguments) -> str | None:
    """Return the sentence on the first argument that the call changed, or None."""
    named_before = by_name(function, before)
    for name, value in by_name(function, after).items():
        place = _first_change(named_before[name], value)
        if place is not None:
            what = f"`{name}{place}`" if place else f"the caller's {noun(value)}"
            return (
                f"the function changes its argument `{name}`: "
                f"{what} is different afterwards. Work on a copy."
            )
    return None


def _first_change(before: Any, after: Any) -> str | None:
    """Return where the two first differ, such as "[0]['weight']", or None; "" is the whole."""
    if isinstance(before, (Tensor, Number, str)):
        alike = type(before) is type(after) and same(after, before, 0.0)
        return None if alike else ""
    parts, parts_after = _parts(before), _parts(after)
    if parts.keys() != parts_after.keys():
        return ""
    for place, part in parts.items():
        change = _first_change(part, parts_after[place])
        if change is not None:
            return place + change
    return None


def _parts(value: Any) -> dict[str, Any]:
    """Return what a value holds, by how one would write it; nothing for a function or None."""
    if isinstance(value, nn.Module):
        parts: dict[str, Any] = {**dict(value.named_parameters()), **dict(value.named_buffers())}
        for name, part in value.named_modules():  # a hook left behind changes every later call
            hooks = f"{name}.hooks".lstrip(".")
            parts[hooks] = len(part._forward_hooks) + len(part._forward_pre_hooks)
        return {f".{name}": part for name, part in parts.items()}
    if isinstance(value, Mapping):
        return {f"[{key!r}]": part for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return {f"[{place}]": part for place, part in enumerate(value)}
    return {f".{name}": part for name, part in getattr(value, "__dict__", {}).items()}


def by_name(function: Callable[..., Any], given: Arguments) -> dict[str, Any]:
    """Return the values of a call by the names that the function gives them."""
    try:
        return inspect.signature(function).bind(*given.positional).arguments
    except (TypeError, ValueError):
        return {str(place): value for place, value in enumerate(given.positional)}
