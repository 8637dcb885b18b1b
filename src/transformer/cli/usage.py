"""Wrong usage: what an option may be, told in one line before any work is done."""

import argparse
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn


class UsageError(ValueError):
    """A command that cannot be meant as it was typed (exit code 2)."""


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, and which takes no option for another's beginning."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and where the options are explained, and leave with code 2."""
        self.exit(2, f"error: {message} (see {self.prog} --help)\n")


@contextmanager
def as_usage() -> Iterator[None]:
    """Turn a ValueError about what was typed into a UsageError."""
    try:
        yield
    except ValueError as error:
        raise UsageError(str(error)) from error


def whole(*, least: int, most: int | None = None) -> Callable[[str], int]:
    """Return the reader of an option that is a whole number from `least` to `most`."""

    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = None
        if value is None or value < least or (most is not None and value > most):
            too_many = most is not None and value is not None and value > most
            limit = f"at most {most}" if too_many else f"at least {least}"
            raise argparse.ArgumentTypeError(f"must be a whole number, {limit}, got {text!r}")
        return value

    return read


def length_penalty(text: str) -> float | None:
    """Read an option that is a finite number, or "mean", which is None."""
    try:
        value = None if text == "mean" else float(text)
    except ValueError:
        value = math.nan
    if value is not None and not math.isfinite(value):
        raise argparse.ArgumentTypeError(f'must be a number, or "mean", got {text!r}')
    return value


def path(text: str) -> str:
    """Read an option that names a file or a folder."""
    if not text.strip():
        raise argparse.ArgumentTypeError(f"must name a file or folder, got {text!r}")
    return text


def check_text(arguments: list[str]) -> None:
    """Raise UsageError for an argument that is not UTF-8: it could not be put on record."""
    for argument in arguments:
        try:
            argument.encode()
        except UnicodeEncodeError:
            raise UsageError(f"arguments must be UTF-8, got {argument!a}") from None


def one_line(error: Exception) -> str:
    """Return the message of an error as one line of at most 500 characters."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 500 else f"{text[:500]} …"
