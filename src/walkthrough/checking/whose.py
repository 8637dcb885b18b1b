"""Tell the reader's own code from that of Python, of installed libraries and of this book."""

import functools
import inspect
import sys
import sysconfig
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any

import torch

import phrasebook
import transformer
import walkthrough


def _folders() -> tuple[str, ...]:
    packages = (module.__path__ for module in (torch, transformer, phrasebook, walkthrough))
    paths = sysconfig.get_paths()
    named = [paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    # where a virtual environment lends Python's own library, its true place counts
    places = [*named, *(str(Path(name).resolve()) for name in named)]
    return tuple(f"{folder}/" for folder in [*places, *(path[0] for path in packages)])


_LIBRARIES = _folders()


@cache
def is_readers(filename: str) -> bool:
    """Return whether code of this file is the reader's: a cell, a script, but no library."""
    libraries = (*_LIBRARIES, f"{sys.base_prefix}/lib", "<frozen", "<__array")
    return not filename.startswith(libraries)


def unwrapped(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function inside of a `functools.partial` or a wrapper that names it."""
    while isinstance(function, functools.partial):
        function = function.func
    return inspect.unwrap(function)


def code_of(function: Callable[..., Any]) -> CodeType | None:
    """Return the code of a function that is written in Python; None for any other."""
    code = getattr(unwrapped(function), "__code__", None)
    return code if isinstance(code, CodeType) else None
