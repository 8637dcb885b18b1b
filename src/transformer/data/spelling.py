"""The spelling of many lines, from that of each of their words (§5.1).

A space always begins a word, and merges stay inside words: the ids of a line are those of its words
side by side. So each word is spelled once, however often it stands in the corpus.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

import numpy as np
from jaxtyping import Int, Integer

_LINES = 5000  # at a time
_WORDS = 1 << 20  # whose spelling is kept, some 150 MB at most; then from the start


FlatLines = tuple[Integer[np.ndarray, " _"], Int[np.ndarray, " _"]]
"""The ids of many lines in one array, and where each line ends in it, after a 0."""


def count_words(lines: Iterable[str]) -> Counter[str]:
    """Return how often each word occurs; what stands between spaces is one."""
    counts: Counter[str] = Counter()
    for _, words in _parts(lines):
        counts.update(words)
    return counts


def spell_lines(
    lines: Iterable[str], spell: Callable[[Sequence[str]], Sequence[Sequence[int]]], *, largest: int
) -> FlatLines:
    """Return the ids of all lines.

    `spell` returns the ids of words; none is above `largest`, which decides what an id takes.
    """
    words = _Words(spell)
    ids = array("H" if largest < 1 << 16 else "i")
    ends = array("q", [0])
    for part, part_words in _parts(lines):
        if len(words.numbers) > _WORDS:
            words = _Words(spell)
        spelled, lengths = words.spelled(part, part_words)
        ids.frombytes(spelled.astype(ids.typecode).tobytes())
        ends.frombytes((ends[-1] + np.cumsum(lengths)).tobytes())
    small = ends[-1] <= np.iinfo(np.int32).max
    flat = np.frombuffer(ids, ids.typecode) if ids else np.empty(0, ids.typecode)
    return flat, np.array(ends, np.int32 if small else np.int64)


def _parts(lines: Iterable[str]) -> Iterator[tuple[list[str], list[str]]]:
    lines = iter(lines)
    while part := list(islice(lines, _LINES)):
        yield part, " ".join(part).split(" ")


class _Words:
    """Words by number, in the order in which they are met, and the ids of each."""

    def __init__(self, spell: Callable[[Sequence[str]], Sequence[Sequence[int]]]) -> None:
        self.numbers = _Numbers()
        self._spell = spell
        self._ids, self._ends = array("i"), array("i", [0])

    def spelled(
        self, lines: list[str], words: list[str]
    ) -> tuple[Int[np.ndarray, " ids"], Int[np.ndarray, " lines"]]:
        """Return the ids of some lines, whose words these are, and the length of each line."""
        numbers = np.fromiter(map(self.numbers.__getitem__, words), np.int64, len(words))
        if self.numbers.new:
            for ids in self._spell(self.numbers.new):
                self._ids.extend(ids)
                self._ends.append(len(self._ids))
            self.numbers.new.clear()
        ends = np.frombuffer(self._ends, np.int32)
        of_line = np.array([line.count(" ") + 1 for line in lines])
        first = np.cumsum(of_line) - of_line
        starts, lengths = ends[numbers], np.diff(ends)[numbers]
        lengths[[place for place, line in zip(first, lines, strict=True) if not line]] = 0
        steps = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        ids = np.frombuffer(self._ids, np.int32)[np.repeat(starts, lengths) + steps]
        return ids, np.add.reduceat(lengths, first)


class _Numbers(dict[str, int]):
    """Numbers from 0 for what is asked for; `new` are those that were not asked for before."""

    def __init__(self) -> None:
        super().__init__()
        self.new: list[str] = []

    def __missing__(self, word: str) -> int:
        self.new.append(word)
        self[word] = len(self)
        return self[word]
