"""Tell an exercise that nobody has begun from a function that lost its result."""

import ast
import inspect
import textwrap
from collections.abc import Callable
from types import NoneType
from typing import Any

from walkthrough.checking.whose import code_of

# A docstring, `pass`, `...`, `return`, `x = None`: what has no value, or one that is given.
_IDLE = (ast.Pass, ast.Expr, ast.Return, ast.Assign, ast.AnnAssign)
_GIVEN = (ast.Constant, ast.Name, NoneType)


def is_empty(function: Callable[..., Any]) -> bool:
    """Return whether the function's body does nothing at all, as a stub's, or cannot be read."""
    code = code_of(function)
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(code)))  # type: ignore[arg-type]
    except (OSError, SyntaxError, TypeError):
        return True
    kind = ast.Lambda if code and code.co_name == "<lambda>" else ast.FunctionDef
    body = next(node for node in ast.walk(tree) if isinstance(node, kind)).body
    return all(
        isinstance(step, _IDLE) and isinstance(getattr(step, "value", None), _GIVEN)
        for step in (body if isinstance(body, list) else [ast.Return(body)])
    )


def lost_result(function: Callable[..., Any]) -> str:
    """Return the sentence for a function that works and hands nothing back."""
    code = code_of(function)
    if code and "print" in code.co_names:
        return (
            "your function prints and returns nothing: `print` shows a value to you, `return` "
            "hands it to whoever called. Is a `return` missing?"
        )
    return "your function computes, but returns nothing: is a `return` missing?"
