"""The corpus and its splits: what the model trains on, and what it has never seen together."""

from __future__ import annotations

import gc
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from phrasebook.example import Example
from phrasebook.grammar import draw, jane
from transformer.data.vocabulary import Vocabulary

# Pairs of words that no training or validation sentence puts together, though each of the two
# words occurs there with others. Everything in `test_combinations` holds at least one of them.
HELD_OUT: frozenset[tuple[str, str, str]] = frozenset(
    [
        # an adjective that describes a noun, before it, after it or as a predicate
        *(
            ("adjective", noun, adjective)
            for noun, adjective in (
                ("chat", "noir"),
                ("oiseau", "beau"),
                ("ami", "vieux"),
                ("actrice", "italien"),
                ("étudiante", "japonais"),
                ("maison", "blanc"),
                ("voiture", "rouge"),
                ("livre", "utile"),
                ("histoire", "long"),
                ("hôtel", "nouveau"),
                ("île", "petit"),
                ("ville", "célèbre"),
                ("chapeau", "cher"),
                ("pomme", "délicieux"),
                ("souris", "blanc"),
                ("professeur", "célèbre"),
            )
        ),
        # a verb and its object
        *(
            ("object", verb, noun)
            for verb, noun in (
                ("lire", "histoire"),
                ("écrire", "lettre"),
                ("manger", "orange"),
                ("acheter", "chapeau"),
                ("vendre", "voiture"),
                ("chercher", "chat"),
                ("trouver", "hôtel"),
                ("regarder", "oiseau"),
                ("connaître", "voisine"),
                ("attendre", "médecin"),
                ("admirer", "cheval"),
                ("visiter", "école"),
                ("voir", "enfant"),
                ("aider", "étudiant"),
                ("inviter", "actrice"),
            )
        ),
        # a verb, or the noun `voyage` or `vie`, and a place
        *(
            ("place", construction, place)
            for construction, place in (
                ("visiter", "Japon"),
                ("visiter", "Rome"),
                ("habiter", "Espagne"),
                ("travailler", "Canada"),
                ("voyager", "Afrique"),
                ("arriver", "Londres"),
                ("aller", "États-Unis"),
                ("venir", "Italie"),
                ("voyage", "France"),
            )
        ),
        # a verb that training never negates
        *(("negation", verb, "pas") for verb in ("chanter", "vendre")),
    ]
)


@dataclass(frozen=True)
class Phrasebook:
    """The corpus in four splits; no sentence is in two of them.

    `test_sentences` are new sentences of the kind seen in training, the running sentence first;
    `test_combinations` each put together words that training keeps apart (`held_out`).
    """

    train: tuple[Example, ...]
    valid: tuple[Example, ...]
    test_sentences: tuple[Example, ...]
    test_combinations: tuple[Example, ...]
    seed: int
    held_out: frozenset[tuple[str, str, str]] = HELD_OUT

    def splits(self) -> dict[str, tuple[Example, ...]]:
        """Return the splits by name."""
        return {
            "train": self.train,
            "valid": self.valid,
            "test_sentences": self.test_sentences,
            "test_combinations": self.test_combinations,
        }

    def vocabulary(self) -> Vocabulary:
        """Return one vocabulary of both languages, learned from the training split."""
        return Vocabulary.from_sentences(
            side for example in self.train for side in (example.source, example.target)
        )


def sentences(seed: int = 0) -> Iterator[Example]:
    """Yield distinct sentence pairs, always the same ones for a seed; there are millions."""
    rng = random.Random(seed)
    seen = set()
    while True:
        example = draw(rng)
        if example.source not in seen:
            seen.add(example.source)
            yield example


def _unseen(
    source: Iterator[Example], words: set[str], n_sentences: int, n_combinations: int
) -> tuple[list[Example], list[Example]]:
    """Take new sentences of known words; no held-out pair may fill much of its split."""
    rest: list[Example] = []
    combined: list[Example] = []
    uses: Counter[tuple[str, str, str]] = Counter()
    most = 1 + 2 * n_combinations // len(HELD_OUT)
    patience = 20 * (n_sentences + n_combinations) + 4_000
    for drawn, example in enumerate(source):
        if drawn > patience:
            raise ValueError(
                f"train must hold the words that test sentences need, got only {len(words)} words"
            )
        if not words.issuperset(example.source + example.target):
            continue
        held_out = HELD_OUT.intersection(example.combinations)
        if not held_out and len(rest) < n_sentences:
            rest.append(example)
        elif (
            held_out
            and len(combined) < n_combinations
            and max(uses[pair] for pair in held_out) < most
        ):
            combined.append(example)
            uses.update(held_out)
        if len(rest) == n_sentences and len(combined) == n_combinations:
            break
    return rest, combined


def _split(seed: int, train: int, valid: int, test: int) -> Phrasebook:
    pinned = jane()
    source = (example for example in sentences(seed) if example.source != pinned.source)
    known: list[Example] = []
    waiting: list[Example] = []
    while len(known) < train:
        example = next(source)
        (known if HELD_OUT.isdisjoint(example.combinations) else waiting).append(example)
    words = {word for example in known for word in example.source + example.target}
    rest, combined = _unseen(chain(waiting, source), words, valid + test - 1, test)
    return Phrasebook(
        train=tuple(known),
        valid=tuple(rest[:valid]),
        test_sentences=(pinned, *rest[valid:]),
        test_combinations=tuple(combined),
        seed=seed,
    )


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Make no search for cycles: nothing here has any, and the search takes 40 % of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@lru_cache(maxsize=4)
def phrasebook(
    seed: int = 0, *, train: int = 16_000, valid: int = 500, test: int = 1_000
) -> Phrasebook:
    """Generate the corpus; the same arguments give the same corpus on every machine.

    `test` is the size of each of the two test splits. A sentence with a word that training does
    not hold stays out of the other splits.

    Raises:
        ValueError: a size is not positive, or training is too small to hold the vocabulary.
    """
    for name, size in (("train", train), ("valid", valid), ("test", test)):
        if size < 1:
            raise ValueError(f"{name} must be at least 1, got {size}")
    with _collector_paused():
        return _split(seed, train, valid, test)
