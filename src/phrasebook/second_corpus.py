"""A second corpus of the phrasebook, for what attention heads look at (Figures 3–5).

The first one, `phrasebook()`, draws from its own structures and stays as it is.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import islice
from zlib import crc32

from phrasebook.distant import and_it, because_who, liked_for, made
from phrasebook.drafts import Draft, finish
from phrasebook.example import Example
from phrasebook.grammar import STRUCTURES
from phrasebook.simple_sentences import Sides, famous_for
from phrasebook.splits import Phrasebook

# Structure → how to write it, and how often it is drawn.
DISTANT: dict[str, tuple[Callable[[Draft], Sides], int]] = {
    "made": (made, 22),
    "because_who": (because_who, 22),
    "liked_for": (liked_for, 12),
    "famous_for": (famous_for, 6),
    "and_it": (and_it, 14),
    "object_pronoun": (STRUCTURES["object_pronoun"][0], 6),
    "transitive": (STRUCTURES["transitive"][0], 16),
    "travel": (STRUCTURES["travel"][0], 8),
    "intransitive": (STRUCTURES["intransitive"][0], 6),
    "copula": (STRUCTURES["copula"][0], 6),
    "comparison": (STRUCTURES["comparison"][0], 4),
    "reported": (STRUCTURES["reported"][0], 6),
}

SPLITS = ("train", "valid", "test")


def split_of(example: Example) -> str:
    """Return the split of a sentence: its English decides, so no two splits share any."""
    return {0: "valid", 1: "test"}.get(crc32(" ".join(example.target).encode()) % 10, "train")


def distant_sentences(
    split: str, *, seed: int = 0, structures: tuple[str, ...] = tuple(DISTANT)
) -> Iterator[Example]:
    """Yield distinct pairs of one split, always the same ones for a seed and some structures.

    Raises:
        ValueError: there is no such split or structure.
    """
    if split not in SPLITS:
        raise ValueError(f"split must be one of {', '.join(SPLITS)}, got {split!r}")
    if unknown := [name for name in structures if name not in DISTANT]:
        raise ValueError(f"structures must be among {', '.join(DISTANT)}, got {unknown[0]!r}")
    drawn = [name for name in structures for _ in range(DISTANT[name][1])]
    rng, seen = random.Random(seed), set()
    while True:
        draft = Draft(rng)
        structure = draft.pick(drawn)
        example = finish(draft, structure, *DISTANT[structure][0](draft))
        if example.source not in seen and split_of(example) == split:
            seen.add(example.source)
            yield example


@lru_cache(maxsize=2)
def distant_phrasebook(
    seed: int = 0, *, train: int = 16_000, valid: int = 500, test: int = 1_000
) -> Phrasebook:
    """Generate the second corpus; nothing is held out but the sentences themselves.

    A sentence with a word that training does not hold stays out of the other splits.
    """
    known = tuple(islice(distant_sentences("train", seed=seed), train))
    words = {word for example in known for word in example.source + example.target}
    unseen = {
        split: tuple(
            islice(
                (
                    e
                    for e in distant_sentences(split, seed=seed)
                    if words.issuperset(e.source + e.target)
                ),
                size,
            )
        )
        for split, size in (("valid", valid), ("test", test))
    }
    return Phrasebook(known, unseen["valid"], unseen["test"], (), seed, frozenset())
