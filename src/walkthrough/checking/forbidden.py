"""What an exercise forbids to call: seen while the reader's function runs.

    Check(..., forbidden=[F.layer_norm, "LayerNorm", Forbidden(min, "write the cases yourself")])

A function or a class is also found under its other names in the same library: who forbids
`torch.softmax` forbids `F.softmax` and `scores.softmax(-1)`. A text forbids by name, in every
library, or in one: `"min"`, `"torch.min"`. Only calls from the reader's own code count, so what a
library calls within, or a function of the reader's with the same name, is free.
"""

import contextlib
import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any

from walkthrough.checking.whose import code_of, is_readers, unwrapped


@dataclass(frozen=True)
class Forbidden:
    """A function, a class or a name that must not be called, and what to say to who does."""

    what: Any
    say: str = ""

    @property
    def name(self) -> str:
        """The name without its library."""
        given = self.what if isinstance(self.what, str) else getattr(self.what, "__name__", "")
        return str(given).rpartition(".")[2]

    @property
    def library(self) -> str | None:
        """The library in which it is forbidden; None for every one."""
        if isinstance(self.what, str):
            return self.what.partition(".")[0] if "." in self.what else None
        return _library(self.what)

    @property
    def sentence(self) -> str:
        """What a verdict says of it."""
        advice = self.say or "what it does is what you write here. Do without it."
        return f"your function calls `{self.name}`: {advice}"


def as_forbidden(given: Sequence[Any]) -> tuple[Forbidden, ...]:
    """Return what a check's author listed, each with its sentence."""
    return tuple(rule if isinstance(rule, Forbidden) else Forbidden(rule) for rule in given)


class Watch:
    """Notes which forbidden calls the reader's code makes: `seen` says it of each, in order."""

    def __init__(self, rules: Sequence[Forbidden]) -> None:
        self.rules = rules
        self.seen: list[str] = []

    @contextlib.contextmanager
    def watching(self, function: Callable[..., Any]) -> Iterator[None]:
        """Watch what is called inside, `function` itself included."""
        if not self.rules:
            yield
            return
        function, code = unwrapped(function), code_of(function)
        if code is None or not is_readers(code.co_filename):
            self._note(getattr(function, "__name__", None), _library(function), function)
        before = sys.getprofile()
        sys.setprofile(self._on_event)
        try:
            yield
        finally:
            sys.setprofile(before)

    def _on_event(self, frame: FrameType, event: str, callee: Any) -> None:
        if event == "c_call" and is_readers(frame.f_code.co_filename):
            self._note(getattr(callee, "__name__", None), _library(callee), callee)
        elif event == "call" and frame.f_back and is_readers(frame.f_back.f_code.co_filename):
            code = frame.f_code
            # a function of the reader's own may have a forbidden name
            name = None if is_readers(code.co_filename) else _called_name(code)
            self._note(name, str(frame.f_globals.get("__name__", "")).partition(".")[0], code)

    def _note(self, name: str | None, library: str | None, callee: Any) -> None:
        for rule in self.rules:
            named = rule.name == name and (library is None or rule.library in (None, library))
            if (named or _is(rule.what, callee)) and rule.sentence not in self.seen:
                self.seen.append(rule.sentence)


def _is(what: Any, callee: Any) -> bool:
    if isinstance(callee, CodeType):
        return callee is getattr(what, "__code__", None)
    return callee is what


def _called_name(code: CodeType) -> str:
    """Return the name by which code was called: that of the class for its `__init__`."""
    qualified = code.co_qualname.split(".")
    return qualified[-2] if qualified[-1] in ("__init__", "__new__") else qualified[-1]


def _library(called: Any) -> str | None:
    module = getattr(called, "__module__", None)
    if not module:
        owner = getattr(called, "__self__", getattr(called, "__objclass__", None))
        owner = owner if inspect.isclass(owner) else type(owner)
        module = None if owner is type(None) else owner.__module__
    return module.partition(".")[0] if isinstance(module, str) else None
