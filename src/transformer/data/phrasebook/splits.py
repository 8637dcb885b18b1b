"""The corpus and its splits: what the model trains on, and what it has never seen together."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from transformer.data.phrasebook.example import Example
from transformer.data.phrasebook.grammar import draw, jane
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
                ("aimer", "jardin"),
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
                ("connaître", "Portugal"),
                ("aimer", "Europe"),
                ("voyage", "France"),
                ("vie", "Paris"),
            )
        ),
        # a verb that training never negates
        *(("negation", verb, "pas") for verb in ("chanter", "vendre", "admirer", "arriver")),
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
    held_out: frozenset[tuple[str, str, str]] = field(default=HELD_OUT, repr=False)

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
    pinned = jane()
    known: list[Example] = []
    rest: list[Example] = []
    combined: list[Example] = []
    words: set[str] = set()
    drawn = 0
    for example in sentences(seed):
        drawn += 1
        if drawn > 20 * (train + valid + 2 * test) + 1_000:
            raise ValueError(f"train={train} sentences do not hold the words of the test sentences")
        if example.source == pinned.source:
            continue
        held_out = not HELD_OUT.isdisjoint(example.combinations)
        if not held_out and len(known) < train:
            known.append(example)
            words.update(example.source, example.target)
        elif len(known) < train or not words.issuperset(example.source + example.target):
            continue
        elif held_out and len(combined) < test:
            combined.append(example)
        elif not held_out and len(rest) < valid + test - 1:
            rest.append(example)
        elif len(combined) == test and len(rest) == valid + test - 1:
            break
    return Phrasebook(
        train=tuple(known),
        valid=tuple(rest[:valid]),
        test_sentences=(pinned, *rest[valid:]),
        test_combinations=tuple(combined),
        seed=seed,
    )
