"""A pair of text files as a corpus: line n of one file translates line n of the other."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

from transformer.files import decoded

MAX_WORDS = 1000


def read_lines(path: str | Path, *, max_words: int = MAX_WORDS) -> tuple[str, ...]:
    """Read the sentences of a UTF-8 text file, one a line; a name that ends in `.gz` is unpacked.

    Only a line feed ends a line (a carriage return before it is dropped). Python's `splitlines`
    also splits at characters such as U+2028, which would shift every later sentence by one.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: naming file and line, for a file without lines, another encoding, an empty line,
            or a line of more than `max_words` words; naming the file, for a damaged gzip file.
    """
    path = Path(path)
    raw_lines = _content(path).split(b"\n")
    if raw_lines[-1] == b"":
        raw_lines.pop()  # the line feed after the last line
    if not raw_lines:
        raise ValueError(f"{path} has no lines")
    return tuple(
        _sentence(f"{path}, line {number}", raw_line, max_words)
        for number, raw_line in enumerate(raw_lines, start=1)
    )


def read_pair(
    source_path: str | Path, target_path: str | Path, *, max_words: int = MAX_WORDS
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Read the two files of a corpus and check that they have the same number of lines.

    Raises:
        ValueError: naming both files and both numbers of lines; and whatever `read_lines` raises.
    """
    source = read_lines(source_path, max_words=max_words)
    target = read_lines(target_path, max_words=max_words)
    if len(source) != len(target):
        raise ValueError(
            "both files of a pair must have the same number of lines, got "
            f"{len(source)} in {source_path} and {len(target)} in {target_path}"
        )
    return source, target


def _content(path: Path) -> bytes:
    content = path.read_bytes()
    if path.suffix == ".gz":
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            raise ValueError(f"{path} is not a whole gzip file: {error}") from error
    return content.removeprefix(b"\xef\xbb\xbf")  # the byte order mark some editors write


def _sentence(place: str, raw_line: bytes, max_words: int) -> str:
    try:
        line = decoded(raw_line.removesuffix(b"\r"))
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from None
    n_words = len(line.split())
    if n_words == 0:
        raise ValueError(f"{place}: every line must hold a sentence, this one is empty")
    if n_words > max_words:
        raise ValueError(f"{place}: a line may have at most {max_words} words, got {n_words}")
    return line
