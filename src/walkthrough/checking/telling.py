"""Name the cases: which are right, which is wrong, and both results where they are small."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from walkthrough.checking.sentences import listed

MOST_NAMED = 3
MOST_LETTERS = 70


def cases_said(cases: Sequence[tuple[str, bool]]) -> str:
    """Return which cases (label, right) are right and which wrong, "right for …; wrong for …"."""
    quoted = any("," in label or " and " in label for label, _ in cases)  # or nobody can count
    right, bad = (
        [f"“{label}”" if quoted else label for label, is_right in cases if is_right is side]
        for side in (True, False)
    )
    if not right:
        return "wrong for every input tried"
    n_right = listed(right) if len(right) <= MOST_NAMED else f"{len(right)} of {len(cases)} inputs"
    more = f" and {len(bad) - MOST_NAMED} more" if len(bad) > MOST_NAMED else ""
    n_bad = ", ".join(bad[:MOST_NAMED]) + more if more else listed(bad)
    return f"right for {n_right}; wrong for {n_bad}"


def smallest(inputs: Sequence[Mapping[str, Any]]) -> int:
    """Return which of these cases has the smallest arguments."""
    return min(range(len(inputs)), key=lambda at: sum(map(_weight, inputs[at].values())))


def _weight(value: Any) -> int:
    if isinstance(value, (list, tuple, dict)):
        return len(value) + sum(map(_weight, value.values() if isinstance(value, dict) else value))
    if isinstance(value, str):
        return len(value)
    return value.numel() if isinstance(value, Tensor) else 1


def example(
    function: Callable[..., Any], given: Mapping[str, Any], mine: Any, wanted: Any
) -> str | None:
    """Return "`f(2, 3)` gives 5; 6 is expected", or None where that is too long to read."""
    values = [written(value) for value in given.values()]
    got, right = written(mine), written(wanted)
    if None in values or got is None or right is None or got == right:
        return None
    name = getattr(function, "__name__", "f")
    called = f"{name if name.isidentifier() else 'f'}({', '.join(map(str, values))})"
    if len(called) > MOST_LETTERS or len(got) + len(right) > MOST_LETTERS:
        return None
    return f"`{called}` gives {got}, and {right} is expected"


def written(value: Any, digits: int = 5) -> str | None:
    """Return a small value as one would write it; None for one that is not small."""
    if isinstance(value, Tensor):
        if value.is_meta or value.numel() > 12 or value.dim() > 2:
            return None
        return written((value.int() if value.dtype == torch.bool else value).tolist(), 3)
    if isinstance(value, float):
        return f"{value:.{digits}g}"
    if isinstance(value, (bool, int, str)) or value is None:
        return repr(value)
    if not isinstance(value, (list, tuple)):
        return None
    parts = [written(part, digits) for part in value]
    if None in parts:
        return None
    inside = ", ".join(map(str, parts))
    if isinstance(value, list):
        return f"[{inside}]"
    return f"({inside},)" if len(parts) == 1 else f"({inside})"
