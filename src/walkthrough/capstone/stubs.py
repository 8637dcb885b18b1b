"""The skeleton: its ten stubs, in the order of the book, and `new`, which writes it."""

import re
from dataclasses import dataclass
from pathlib import Path

from walkthrough.doctor.report import SITE

SKELETON = Path(__file__).with_name("skeleton.py")
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


def _stubs(text: str) -> tuple[Stub, ...]:
    _, *found = _HEAD.split(text.partition("\n# The loop")[0])
    heads = zip(*(found[i::5] for i in range(5)), strict=True)
    return tuple(
        Stub(int(number), name, section, page, tuple(_PART.findall(code)))
        for number, name, section, page, code in heads
    )


STUBS = _stubs(SKELETON.read_text(encoding="utf-8"))
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
    text = SKELETON.read_text(encoding="utf-8").replace("{site}", f"{SITE}book/")
    text = text.replace("  # noqa: F401", "")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"the folder {path.parent} is not there")
    try:
        with path.open("x", encoding="utf-8") as out:
            out.write(text)
    except FileExistsError:
        raise FileExistsError(f"{path} is there already, and is left as it is") from None
    return path
