"""A pair of text files as a corpus: line n of one file translates line n of the other."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transformer.files import decoded

MAX_WORDS = 1000

_BLOCK = 1 << 20  # bytes that are read at a time
_BOM = b"\xef\xbb\xbf"  # the byte order mark some editors write
_BLANK = "".join(filter(str.isspace, map(chr, range(1 << 16)))) + "\u200b\u200c\u200d\u2060\ufeff"


@dataclass(frozen=True)
class TextFile:
    """The sentences of a UTF-8 text file, one a line; a name that ends in `.gz` is unpacked.

    They are read anew each time, in little memory. Only a line feed ends a line (a carriage return
    before it is dropped). Python's `splitlines` also splits at characters such as U+2028, which
    would shift every later sentence by one.
    """

    path: str | Path
    max_words: int = MAX_WORDS

    def __iter__(self) -> Iterator[str]:
        """Yield every sentence.

        Raises:
            FileNotFoundError: if there is no such file.
            ValueError: naming file and line, for a file without lines, another encoding, a line
                without a sentence, or one of more than `max_words` words; naming the file, for a
                damaged gzip file.
        """
        number = 0
        for raw_lines in self._blocks():
            if not number and len(raw_lines) == 1 and b"\r" in raw_lines[0].rstrip():
                raise ValueError(
                    f"{self.path} has one line with carriage returns: a line feed must end a line"
                )
            yield from self._sentences(number, raw_lines)
            number += len(raw_lines)
        if not number:
            raise ValueError(f"{self.path} has no lines")

    def fingerprint(self) -> str:
        """Return the number of lines and the SHA-256 of what stands in them.

        Raises:
            FileNotFoundError, ValueError: no such file, or a damaged gzip file.
        """
        number, digest = 0, hashlib.sha256()
        for raw_lines in self._blocks():
            number += len(raw_lines)
            digest.update(b"".join(raw_lines))
        return f"{number} lines, SHA-256 {digest.hexdigest()[:16]}"

    def _blocks(self) -> Iterator[list[bytes]]:
        is_packed = Path(self.path).suffix == ".gz"
        opened: Any = gzip.open if is_packed else open
        with opened(self.path, "rb") as file:
            is_first = True
            try:
                while raw_lines := file.readlines(_BLOCK):
                    if is_first:
                        raw_lines[0] = raw_lines[0].removeprefix(_BOM)
                    if any(raw_lines):  # a mark alone is no line
                        yield raw_lines
                    is_first = False
            except (gzip.BadGzipFile, EOFError, zlib.error) as error:
                raise ValueError(f"{self.path} is not a whole gzip file: {error}") from error

    def _sentences(self, before: int, raw_lines: list[bytes]) -> list[str]:
        try:
            lines = b"".join(raw_lines).decode().removesuffix("\n").split("\n")
        except UnicodeDecodeError:
            lines = []
        lines = [line.removesuffix("\r") for line in lines]
        is_text = bool(lines) and "\0" not in "".join(lines)
        short = 2 * self.max_words  # characters, which cannot be more than `max_words` words
        if is_text and all(line.strip(_BLANK) and len(line) < short for line in lines):
            return lines
        return [
            _sentence(f"{self.path}, line {number}", raw_line, self.max_words)
            for number, raw_line in enumerate(raw_lines, start=before + 1)
        ]


@dataclass(frozen=True)
class TextPair:
    """Two text files whose line n is the same sentence, read anew each time.

    Raises:
        ValueError: naming both files and both numbers of lines, if these differ.
    """

    source: TextFile
    target: TextFile

    def __post_init__(self) -> None:
        numbers = [int(file.fingerprint().split()[0]) for file in (self.source, self.target)]
        _check_numbers(self.source.path, self.target.path, *numbers)


def read_lines(path: str | Path, *, max_words: int = MAX_WORDS) -> tuple[str, ...]:
    """Read the sentences of a text file.

    Raises:
        FileNotFoundError, ValueError: as `TextFile`.
    """
    return tuple(TextFile(path, max_words))


def read_pair(
    source_path: str | Path, target_path: str | Path, *, max_words: int = MAX_WORDS
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Read the two files of a corpus and check that they have the same number of lines.

    Raises:
        ValueError: naming both files and both numbers of lines; and whatever `read_lines` raises.
    """
    source = read_lines(source_path, max_words=max_words)
    target = read_lines(target_path, max_words=max_words)
    _check_numbers(source_path, target_path, len(source), len(target))
    return source, target


def _check_numbers(source_path: object, target_path: object, source: int, target: int) -> None:
    if source != target:
        raise ValueError(
            "both files of a pair must have the same number of lines, got "
            f"{source} in {source_path} and {target} in {target_path}"
        )


def _sentence(place: str, raw_line: bytes, max_words: int) -> str:
    try:
        line = decoded(raw_line.removesuffix(b"\n").removesuffix(b"\r"))
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from None
    if not line.strip(_BLANK):
        raise ValueError(f"{place}: every line must hold a sentence, this one is empty")
    n_words = len(line.split())
    if n_words > max_words:
        raise ValueError(f"{place}: a line may have at most {max_words} words, got {n_words}")
    return line
