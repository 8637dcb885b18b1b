"""Where commands read and write: standard streams in UTF-8, files, pipes, folders to be made."""

import os
import sys
from codecs import BOM_UTF8
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO

from transformer.cli.usage import UsageError
from transformer.files import check_folder


def write_utf8() -> None:
    """Let standard output and error be UTF-8, as what is read is, whatever the locale says."""
    for stream, errors in ((sys.stdout, "strict"), (sys.stderr, "backslashreplace")):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors=errors)


def standard_stream(name: str) -> Any:
    """Return the stream that `-`, or another name such as /dev/stdout, means; None for a file."""
    if name == "-":
        return sys.stdout
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # closed, or no file at all
            if os.path.samestat(os.stat(name), os.fstat(stream.fileno())):
                return stream
    return None


def check_output(name: str) -> None:
    """Raise before any work is done unless a file, pipe or device of that name can be written.

    Raises:
        UsageError: the name is a folder's, or that of a standard output that is closed.
        OSError: its folder cannot be made, or takes no files.
    """
    if Path(name).is_dir():
        raise UsageError(f"--output must name a file, {name} is a folder")
    if name == "-" and sys.stdout is None:
        raise UsageError("standard output is closed: name a file with --output")
    if standard_stream(name) is None and (not os.path.exists(name) or os.path.isfile(name)):
        check_folder(Path(os.path.realpath(name)).parent)


def check_output_folder(option: str, name: str) -> None:
    """Raise before any work is done unless the folder is there, or can be made.

    Raises:
        UsageError: the name is a file's, or that of standard output.
        OSError: the folder cannot be made, or takes no files.
    """
    if name == "-" or (os.path.exists(name) and not os.path.isdir(name)):
        raise UsageError(f"{option} must name a folder, {name} is none")
    check_folder(name)


@contextmanager
def output(name: str) -> Iterator[Path]:
    """Yield the file to write; what a standard stream is meant to get goes there at the end."""
    stream = standard_stream(name)
    if stream is None:
        yield Path(name)
        return
    with TemporaryDirectory() as folder:
        path = Path(folder) / "output"
        yield path
        stream.flush()
        stream.buffer.write(path.read_bytes())
        stream.flush()


def open_input(path: str | None) -> BinaryIO:
    """Open the file of that name, or standard input for none and for `-`."""
    if path and path != "-":
        return open(path, "rb")
    if sys.stdin is None:
        raise UsageError("standard input is closed: name a file with --input")
    return sys.stdin.buffer


def lines_of(file: BinaryIO, *, longest: int) -> Iterator[str]:
    """Yield each line; bytes that are not UTF-8 become lone surrogates, which no model takes.

    Of a line of more than `longest` bytes the rest is skipped.
    """
    is_first = True
    while raw := file.readline(longest):
        rest = raw
        while len(rest) == longest and not rest.endswith(b"\n"):
            rest = file.readline(longest)
        line = raw.removeprefix(BOM_UTF8) if is_first else raw
        yield line.decode("utf-8", "surrogateescape").rstrip("\r\n")
        is_first = False
