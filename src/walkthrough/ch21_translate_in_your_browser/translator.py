"""The translator of the page: the weights that ship, and sentences to try (§6.1)."""

import torch

from transformer.config import BOS_ID, EOS_ID
from transformer.data.codec import PhrasebookCodec
from transformer.data.phrasebook import phrasebook
from transformer.model import Transformer
from walkthrough.lab import half_trained
from walkthrough.page.results import FOLDER

WEIGHTS = FOLDER / "phrasebook-translator.safetensors"
"""Chapter 14's recipe, weights as 16-bit numbers, made by `python -m tools.book.weights page`."""

EXAMPLES = (
    "Jane visite l'Afrique en septembre.",
    "La voisine ne vend pas la maison blanche.",
    "Paul rend le voyage plus difficile.",
    "Le nouvel ami japonais aide l'étudiant italien qui travaille en France le matin.",
)


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
