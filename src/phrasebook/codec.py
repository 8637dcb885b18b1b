"""The phrasebook's words as ids, in a form that a checkpoint can hold as text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from phrasebook.orthography import detokenize, tokenize
from phrasebook.splits import phrasebook
from transformer.data.vocabulary import Vocabulary


class PhrasebookCodec:
    """Words of the phrasebook, written and read as sentences."""

    def __init__(
        self, vocabulary: Vocabulary, source_language: str = "fr", target_language: str = "en"
    ) -> None:
        self.vocabulary = vocabulary
        self.source_language, self.target_language = source_language, target_language

    @classmethod
    def learn(cls, seed: int, source_language: str, target_language: str) -> PhrasebookCodec:
        """Collect the words of the phrasebook that a seed draws."""
        return cls(phrasebook(seed).vocabulary(), source_language, target_language)

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> PhrasebookCodec:
        """Rebuild a codec from what `to_text` wrote, read as JSON."""
        source, target = content["languages"]
        return cls(Vocabulary(content["words"]), source, target)

    @property
    def tokens(self) -> tuple[str, ...]:
        """All tokens in the order of their ids."""
        return self.vocabulary.tokens

    def encode(self, text: str) -> list[int]:
        """Return the ids of a source sentence; a word that is not known is an error."""
        return self.vocabulary.encode(tokenize(text, self.source_language))

    def encode_target(self, text: str) -> list[int]:
        """Return the ids of a target sentence."""
        return self.vocabulary.encode(tokenize(text, self.target_language))

    def decode(self, ids: Sequence[int]) -> str:
        """Return the target sentence of the ids."""
        return detokenize(self.vocabulary.decode(ids), self.target_language)

    def to_text(self) -> str:
        """Return the words and the languages as JSON."""
        languages = [self.source_language, self.target_language]
        content = {"kind": "words", "languages": languages, "words": self.vocabulary.to_list()}
        return json.dumps(content, ensure_ascii=False)

    def __len__(self) -> int:
        return len(self.vocabulary)
