"""The skeleton: the solution without its code, ten stubs in the order of the book; and `new`."""

import ast
import re
from dataclasses import dataclass
from pathlib import Path

from walkthrough.capstone import solution
from walkthrough.doctor.report import SITE

SOLUTION = Path(solution.__file__)
NOT_ASKED = {"embed"}
"""Functions of the solution that no stub asks for."""
_HEAD = re.compile(r"^# (\d+) · (.+?) · (.+)\n# \{site\}(.+)$", re.MULTILINE)
_PART = re.compile(r"^(?:def|class) (\w+)", re.MULTILINE)


@dataclass(frozen=True)
class Stub:
    """One of the ten: its number, name, section of the paper, page of the book, and its parts."""

    number: int
    name: str
    section: str
    page: str
    parts: tuple[str, ...]


def skeleton() -> str:
    """Return the solution with `raise NotImplementedError` in the place of its code."""
    text = SOLUTION.read_text(encoding="utf-8")
    lines = text.splitlines()
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    for one in sorted(functions, key=lambda one: -one.lineno):
        if one.name in NOT_ASKED:
            del lines[one.lineno - 1 : (one.end_lineno or 0) + 1]
        elif len(one.body) > 1:  # a docstring, or `super().__init__()`, stays
            start = one.body[1].lineno - 1
            indent = " " * one.body[1].col_offset
            lines[start : one.end_lineno] = [f"{indent}raise NotImplementedError"]
    return "\n".join(lines).replace("{site}", f"{SITE}book/") + "\n"


def _stubs(text: str) -> tuple[Stub, ...]:
    _, *found = _HEAD.split(text.partition("\n# The loop")[0])
    heads = zip(*(found[i::5] for i in range(5)), strict=True)
    return tuple(
        Stub(int(number), name, section, page, tuple(_PART.findall(code)))
        for number, name, section, page, code in heads
    )


STUBS = _stubs(SOLUTION.read_text(encoding="utf-8"))
PARTS = tuple(part for stub in STUBS for part in stub.parts)
HELPERS = {"split_heads", "merge_heads", "layer_norm"}
"""Parts that a file may do without."""


def new(file: str | Path = "my_transformer.py") -> Path:
    """Write the skeleton of ten stubs; never over a file that is there.

    Raises:
        FileExistsError: there is such a file already.
        FileNotFoundError: its folder is not there.
    """
    path = Path(file)
    if not path.parent.is_dir():
        raise FileNotFoundError(f"the folder {path.parent} is not there")
    try:
        with path.open("x", encoding="utf-8") as out:
            out.write(skeleton())
    except FileExistsError:
        raise FileExistsError(f"{path} is there already, and is left as it is") from None
    return path
