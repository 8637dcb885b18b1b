"""Say in words why a reader's function stopped: the line, and the shapes of what stands in it."""

import ast
import linecache
from collections.abc import Callable, Mapping
from types import CodeType, FrameType
from typing import Any

import numpy as np
from torch import Tensor

from walkthrough.checking.kinds import noun
from walkthrough.checking.sentences import listed
from walkthrough.checking.whose import code_of, is_readers


def stop_said(function: Callable[..., Any], error: BaseException, label: str) -> str:
    """Return the sentence on an exception: where it arose, its own words, and what met there."""
    words = f": {str(error).strip()}" if str(error).strip() else ""
    frames = readers_frames(error, code_of(function))
    stopped = (
        f"for {label} your function stops with {type(error).__name__}{where_said(frames)}{words}"
    )
    if not frames:
        return stopped
    met = _shapes_said(_names(_line(*frames[-1])), frames[-1][0].f_locals)
    means = next((hint for part, hint in _MEANS.items() if part in str(error)), "")
    more = [sentence for sentence in (met, means) if sentence]
    stop = "" if stopped.endswith((".", "?")) else "."
    return f"{stopped}{stop} {' '.join(more)}" if more else stopped


# what an exception's own words mean, where they do not say it
_MEANS = {
    "step must be greater than zero": "A tensor is not turned round by `[::-1]`: use `flip(0)`.",
    "return_types.m": "`max` along a dimension, or `min`, gives values and places: take `.values`.",
    "Boolean value of Tensor with more than one value": (
        "Many truth values are no single one: which do you want, `.any()` or `.all()`?"
    ),
    "'float' object cannot be interpreted as an integer": (
        "A size is a whole number: divide with `//`."
    ),
    "cannot be multiplied": (
        "In a product of matrices the columns of the left one meet the rows of the right one."
    ),
    "is out of bounds for dimension 0 with size": (
        "An id or a place is too large: the largest is one less than the size."
    ),
    "tensors used as indices must be long": (
        "Ids are whole numbers: floats look up no row, and no gradient flows to an id."
    ),
    "converted to type c10::Half without overflow": (
        "float16 ends at 65504: −∞ exists in it, a number such as −1e9 does not."
    ),
}


def readers_frames(
    error: BaseException, code: CodeType | None = None
) -> list[tuple[FrameType, int]]:
    """Return the frames of the reader's code, the innermost last, and the line each had reached.

    Code that stands in the file of `code` is the reader's, too.
    """
    frames: list[tuple[FrameType, int]] = []
    step = error.__traceback__
    while step:
        file = step.tb_frame.f_code.co_filename
        if is_readers(file) or (code and file == code.co_filename):
            frames.append((step.tb_frame, step.tb_lineno))
        step = step.tb_next
    return frames


def where_said(frames: list[tuple[FrameType, int]]) -> str:
    """Return " in line 3 (`…`), called from line 9": where code stopped, and who called it."""
    if not frames:
        return ""
    line, file = _line(*frames[-1]), frames[-1][0].f_code.co_filename
    where = f" in line {frames[-1][1]}" + (f" (`{line}`)" if line else "")
    callers = [number for frame, number in frames[:-1] if frame.f_code.co_filename == file]
    return f"{where}, called from line {callers[-1]}" if callers else where


def _line(frame: FrameType, number: int) -> str:
    linecache.checkcache(frame.f_code.co_filename)  # the file may have been edited since
    return linecache.getline(frame.f_code.co_filename, number).strip()


def _names(line: str) -> list[str]:
    """Return the names in a line of code, in order, each once."""
    for source in (line, f"{line.rstrip(':')}: pass", line.removeprefix("return ")):
        try:
            tree = ast.parse(source.rstrip(",") or "0")
        except SyntaxError:
            continue
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        return sorted(names, key=lambda name: (line.find(name), name))
    return []


def _shapes_said(names: list[str], values: Mapping[str, Any]) -> str:
    sizes = {name: _size(values[name]) for name in names if name in values}
    parts = [f"`{name}` {size}" for name, size in sizes.items() if size]
    return f"There {listed(parts)}." if parts else ""


def _size(value: Any) -> str | None:
    """Return a value's size as the end of a sentence, "has the shape (2, 3)"; None if it has none.

    Only sizes and plain numbers are said: they are what does not fit together.
    """
    if isinstance(value, (Tensor, np.ndarray)):
        return f"has the shape {tuple(value.shape)}" if value.ndim else "is a single number"
    if value is None:
        return "is None"
    if isinstance(value, (list, tuple, dict, str)):
        return f"is a {noun(value)} of {len(value)}" if value else f"is an empty {noun(value)}"
    if isinstance(value, (bool, int, float)):
        return f"is {value:.4g}" if isinstance(value, float) else f"is {value}"
    return None
