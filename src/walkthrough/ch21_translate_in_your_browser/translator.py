"""The translator of the page: the weights that ship, and sentences to try (§6.1)."""

import torch

from phrasebook import lexicon, phrasebook
from phrasebook.codec import PhrasebookCodec
from transformer.config import BOS_ID, EOS_ID
from transformer.model import Transformer
from walkthrough.lab import half_trained
from walkthrough.page.results import FOLDER

WEIGHTS = FOLDER / "phrasebook-translator.safetensors"
"""Chapter 14's recipe, weights as 16-bit numbers, made by `python -m tools.book.weights page`."""

EXAMPLES = (
    "Jane visite l'Afrique en septembre.",
    "Les voisines pensent que cette souris est blanche.",
    "La voisine ne vend pas la maison blanche.",
    "Paul rend le voyage plus difficile.",
    "Le nouvel ami japonais aide l'étudiant italien qui travaille en France le matin.",
)

MORE_NOUNS = (
    *("bruit", "musique", "neige", "pluie", "promenade", "promenades", "soleil"),
    *("travail", "vent", "vie", "voyage", "voyages"),
)
"""Nouns that stand in the grammar's sentences and not in its table."""


def load_translator() -> tuple[Transformer, PhrasebookCodec]:
    """Return the model of the page, in evaluation mode and widened to 32 bits, and its words."""
    return half_trained.load_translator(WEIGHTS)


def source_ids(codec: PhrasebookCodec, text: str) -> torch.Tensor:
    """Return the ids of one sentence with its end token, shape (1, source_len)."""
    return torch.tensor([[*codec.encode(text), EOS_ID]])


def target_ids(tokens: list[int]) -> torch.Tensor:
    """Return what the decoder reads before it predicts the token after `tokens`."""
    return torch.tensor([[BOS_ID, *tokens]])


def french_words(codec: PhrasebookCodec) -> list[str]:
    """Return the words that occur in French sentences, in the order of their ids.

    One list holds the words of both languages. A word that the model has only ever written, never
    read, has a row in the matrix and no meaning as a source.
    """
    splits = phrasebook().splits()
    seen = {word for split in splits.values() for example in split for word in example.source}
    return [word for word in codec.vocabulary.tokens if word in seen]


def words_by_kind(codec: PhrasebookCodec) -> dict[str, list[str]]:
    """Return the French words by kind; a word of two kinds stands in both."""
    adjectives = [
        (one.masculine, one.feminine, one.masculine_plural, one.feminine_plural, one.before_vowel)
        for one in lexicon.ADJECTIVES.values()
    ]
    forms = {
        "names": [*lexicon.NAMES],
        "places": [*lexicon.PLACES],
        "people, animals, things": [
            *(form for noun in lexicon.NOUNS.values() for form in (noun.singular, noun.plural)),
            *MORE_NOUNS,
        ],
        "verbs": [f for verb in lexicon.VERBS.values() for f in (verb.singular, verb.plural)],
        "adjectives": [form for some in adjectives for form in some],
        "times": [*lexicon.MONTHS, *lexicon.SEASONS, *lexicon.DAYTIMES, "dimanche"],
        "how often": [*lexicon.FREQUENCY],
    }
    known = french_words(codec)
    found = {kind: [word for word in known if word in some] for kind, some in forms.items()}
    some = {word for words in found.values() for word in words}
    return found | {"small words": [word for word in known if word not in some]}
