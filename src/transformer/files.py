"""Files: written whole or not at all, and read as UTF-8 or refused by name."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SPARE_BYTES = 1 << 20
"""Room that must stay free on the disk beside the file."""

UTF_16 = "is this UTF-16? save it as UTF-8"

_UNFINISHED = ".unfinished"


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Yield the file to write what `path` shall hold; it takes that name at the end, at once.

    A link goes on leading where it led. A device or a pipe is yielded itself.
    """
    if os.path.exists(path) and not os.path.isfile(path):
        yield Path(path)
        return
    path = Path(os.path.realpath(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}{_UNFINISHED}")
    try:
        yield unfinished
        with unfinished.open("r+b") as file:
            os.fsync(file.fileno())
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def write_atomically(path: str | Path, *parts: bytes | memoryview) -> None:
    """Make `path` hold the `parts`, completely or not at all; see `replacing`.

    Raises:
        OSError: the disk has too little room.
    """
    with replacing(path) as place:
        needed, free = sum(map(len, parts)) + SPARE_BYTES, shutil.disk_usage(place.parent).free
        if free < needed and place.name.endswith(_UNFINISHED):  # a device needs no room
            raise OSError(f"too little room to write {path}: {needed} bytes needed, {free} free")
        with place.open("wb") as file:
            file.writelines(parts)


def remove_unfinished(folder: str | Path, names: str = "*") -> None:
    """Remove what writes to files of these names left when their process was killed.

    Only for who alone writes there: the file of a write that is under way would go, too.
    """
    for left in Path(folder).glob(f".{names}.*{_UNFINISHED}"):
        left.unlink()


def check_folder(path: str | Path) -> None:
    """Raise OSError unless the folder is there, or can be made, and takes files."""
    path = Path(path)
    new = [folder for folder in (path, *path.parents) if not folder.exists()]
    try:
        path.mkdir(parents=True, exist_ok=True)
        trial = path / f".trial.{os.getpid()}{_UNFINISHED}"
        trial.touch()
        trial.unlink()
    finally:
        for folder in new:
            if folder.exists() and not any(folder.iterdir()):
                folder.rmdir()


def read_text(path: str | Path) -> str:
    """Read a file of text, without the byte order mark that some editors write.

    Raises:
        FileNotFoundError: no such file.
        ValueError: as `decoded`; the caller knows what to call the file.
    """
    return decoded(Path(path).read_bytes().removeprefix(b"\xef\xbb\xbf"))


def decoded(content: bytes) -> str:
    """Return the text that UTF-8 spells.

    Raises:
        ValueError: for bytes that are none, and for the NUL bytes of UTF-16 without a mark.
    """
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        byte = content[error.start]
        told = f"not valid UTF-8 (byte 0x{byte:02x} at column {error.start + 1})"
        # these begin UTF-16, and nothing else has them
        raise ValueError(f"{told}: {UTF_16}" if byte in (0xFE, 0xFF) else told) from None
    if "\0" in text:
        raise ValueError(f"a NUL byte at column {text.index(chr(0)) + 1}: {UTF_16}")
    return text
