"""Byte-pair encoding by hand: learn merges, apply them, undo them (Section 5.1).

Sennrich, Haddow and Birch (2016): start from characters, and again and again join the two
neighbours that stand side by side most often. `tokenizer.py` does the same with a library, fast,
on bytes; this page is for reading, and for the subword dropout that the library cannot seed.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import pairwise

Merge = tuple[str, str]
"""Two neighbouring symbols that become one."""


def split_words(line: str) -> list[str]:
    """Split a line into words that keep the space before them; joined, they are " " + line.

    Merges never cross a space, so that a symbol is at most one word long.
    """
    return re.findall(" [^ ]*", " " + line)


def learn_merges(lines: Iterable[str], n_merges: int) -> list[Merge]:
    """Learn `n_merges` merges, the most frequent pair first, from at least two occurrences.

    Of equally frequent pairs the one whose symbols are older wins: characters in the order of
    their code points, then merged symbols in the order in which they were made.

    Raises:
        ValueError: if the lines do not hold that many pairs.
    """
    words = Counter(word for line in lines for word in split_words(line))
    spelling = {word: list(word) for word in words}
    symbols = sorted({character for word in words for character in word})
    age = {symbol: number for number, symbol in enumerate(symbols)}
    merges: list[Merge] = []
    while len(merges) < n_merges:
        counts: Counter[Merge] = Counter()
        for word, parts in spelling.items():
            for pair in pairwise(parts):
                counts[pair] += words[word]
        best = min(counts, key=lambda p: (-counts[p], age[p[0]], age[p[1]]), default=None)
        if best is None or counts[best] < 2:
            raise ValueError(f"the corpus allows {len(merges)} merges, got n_merges = {n_merges}")
        merges.append(best)
        age.setdefault("".join(best), len(age))
        spelling = {word: join_pair(parts, best) for word, parts in spelling.items()}
    return merges


def join_pair(parts: list[str], pair: Merge) -> list[str]:
    """Join every occurrence of `pair`, from the left: `a a a` with (a, a) becomes `aa a`."""
    joined: list[str] = []
    position = 0
    while position < len(parts):
        width = 2 if tuple(parts[position : position + 2]) == pair else 1
        joined.append("".join(parts[position : position + width]))
        position += width
    return joined


def merge_ranks(merges: Iterable[Merge]) -> dict[Merge, int]:
    """Number the merges in the order in which they were learned."""
    return {merge: rank for rank, merge in enumerate(merges)}


def segment(
    word: str,
    ranks: Mapping[Merge, int],
    *,
    dropout: float = 0.0,
    generator: random.Random | None = None,
) -> list[str]:
    """Spell a word in subwords: as long as any pair can be merged, merge the one learned first.

    With `dropout`, each possible merge is overlooked with that probability at each step, so that
    a rare word is spelled in other ways each time (Provilkov, Emelianenko and Voita 2020).
    """
    parts = list(word)
    while True:
        candidates = [
            (ranks[pair], position)
            for position, pair in enumerate(pairwise(parts))
            if pair in ranks and not (generator and generator.random() < dropout)
        ]
        if not candidates:
            return parts
        _, position = min(candidates)
        parts[position : position + 2] = ["".join(parts[position : position + 2])]


def encode(line: str, ranks: Mapping[Merge, int]) -> list[str]:
    """Spell a line in subwords; a space at the front of one marks the beginning of a word."""
    return [part for word in split_words(line) for part in segment(word, ranks)]


def decode(parts: Iterable[str]) -> str:
    """Join subwords to the line that they spell: `encode` undone, for any string."""
    return "".join(parts).removeprefix(" ")
