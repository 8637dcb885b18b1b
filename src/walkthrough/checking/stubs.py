"""Tell an exercise that nobody has begun from a function that lost its result."""

import dis
from collections.abc import Callable
from typing import Any

from walkthrough.checking.whose import code_of

# What is left of a body that holds a docstring, comments, `pass`, `...`, `return` or `x = None`.
_IDLE = {
    "RESUME", "NOP", "CACHE", "LOAD_CONST", "POP_TOP", "RETURN_VALUE", "RETURN_CONST",
    "LOAD_FAST", "LOAD_SMALL_INT", "STORE_FAST", "COPY_FREE_VARS", "MAKE_CELL", "NOT_TAKEN",
}  # fmt: skip


def is_empty(function: Callable[..., Any]) -> bool:
    """Return whether the function's body does nothing at all, as a stub's."""
    code = code_of(function)
    return code is None or all(step.opname in _IDLE for step in dis.get_instructions(code))


def lost_result(function: Callable[..., Any]) -> str:
    """Return the sentence for a function that works and hands nothing back."""
    code = code_of(function)
    if code and "print" in code.co_names:
        return (
            "your function prints and returns nothing: `print` shows a value to you, `return` "
            "hands it to whoever called. Is a `return` missing?"
        )
    return "your function computes, but returns nothing: is a `return` missing?"
