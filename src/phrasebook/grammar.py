"""The structures of the phrasebook, how often each is drawn, and the running sentence."""

from __future__ import annotations

import random
from collections.abc import Callable

from phrasebook.drafts import Draft, Leaf, finish
from phrasebook.example import Example
from phrasebook.lexicon import PLACES
from phrasebook.long_sentences import because, makes_more, object_pronoun, reported
from phrasebook.noun_phrases import name_phrase, place_name
from phrasebook.simple_sentences import (
    Sides,
    clause,
    comparison,
    copula,
    famous_for,
    intransitive,
    transitive,
    travel,
)
from phrasebook.verb_phrases import add_object, verb_phrase

# Structure → how to write it, and how often it is drawn.
STRUCTURES: dict[str, tuple[Callable[[Draft], Sides], int]] = {
    "transitive": (transitive, 30),
    "travel": (travel, 14),
    "intransitive": (intransitive, 10),
    "object_pronoun": (object_pronoun, 12),
    "because": (because, 8),
    "copula": (copula, 8),
    "comparison": (comparison, 6),
    "famous_for": (famous_for, 8),
    "makes_more": (makes_more, 10),
    "reported": (reported, 8),
}


_DRAWN = tuple(name for name, (_, weight) in STRUCTURES.items() for _ in range(weight))


def draw(rng: random.Random) -> Example:
    """Write one sentence pair at random."""
    draft = Draft(rng)
    structure = draft.pick(_DRAWN)
    french, english = STRUCTURES[structure][0](draft)
    return finish(draft, structure, french, english)


def jane() -> Example:
    """Return the running sentence: `Jane visite l'Afrique en septembre`."""
    draft = Draft(random.Random(0))
    subject = name_phrase(draft, "Jane")
    phrase = verb_phrase(draft, "visiter", subject)
    add_object(phrase, "visiter", place_name(draft, PLACES["Afrique"]))
    preposition, month = draft.link(), draft.link()
    phrase.add(
        ["PP", Leaf("en", (preposition,)), ["NP", Leaf("septembre", (month,))]],
        ["PP", Leaf("in", (preposition,)), ["NP", Leaf("September", (month,))]],
    )
    draft.combine("place", "visiter", "Afrique")
    return finish(draft, "transitive", *clause(subject, phrase.nodes()))
