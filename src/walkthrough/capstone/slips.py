"""Slips of one line in the right file, each with what it forgets (§3)."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType

from walkthrough.capstone.stubs import SOLUTION


@dataclass(frozen=True)
class Slip:
    """In `part` of the right file `right` is exchanged for `wrong`; `forgets` is what that does."""

    part: str
    name: str
    right: str
    wrong: str
    forgets: str


SLIPS = tuple(
    Slip(**row)
    for row in tomllib.loads(Path(__file__).with_name("slips.toml").read_text("utf-8"))["slips"]
)


def text_of(slip: Slip) -> str:
    """Return the right file with this slip in it.

    Raises:
        ValueError: the part does not have that line once.
    """
    text = SOLUTION.read_text(encoding="utf-8")
    start = max(text.find(f"\n{kind} {slip.part}(") for kind in ("def", "class"))
    end = text.find("\n\n\n", start)
    part = text[start:end]
    if start < 0 or part.count(slip.right) != 1:
        raise ValueError(f"{slip.name}: {slip.right!r} stands {part.count(slip.right)} times")
    return text[:start] + part.replace(slip.right, slip.wrong) + text[end:]


@cache
def module_of(slip: Slip) -> ModuleType:
    """Return the right file with this slip, as a module."""
    module = ModuleType("a_slip")
    exec(compile(text_of(slip), f"<{slip.name}>", "exec"), vars(module))
    return module
