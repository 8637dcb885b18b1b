"""What turns a corpus's text into ids and back, in a form that a checkpoint can hold as text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Protocol, runtime_checkable

from transformer.data.phrasebook.orthography import detokenize, tokenize
from transformer.data.sentencepiece_codec import SentencePieceCodec
from transformer.data.tokenizer import SubwordTokenizer
from transformer.data.tree_codec import TreeCodec
from transformer.data.vocabulary import Vocabulary


@runtime_checkable
class TextCodec(Protocol):
    """Source text to ids, ids to target text.

    One vocabulary serves both languages, unless the codec says a `target_size` of its own.
    """

    def encode(self, text: str) -> list[int]:
        """Return the ids of a source sentence."""

    def encode_target(self, text: str) -> list[int]:
        """Return the ids of a target sentence."""

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of a target sentence."""

    def to_text(self) -> str:
        """Return everything `codec_from_text` needs, as JSON."""

    def __len__(self) -> int: ...


class SubwordCodec:
    """Byte-pair encoding (§5.1)."""

    def __init__(self, tokenizer: SubwordTokenizer) -> None:
        self.tokenizer = tokenizer

    @classmethod
    def train(cls, lines: Iterable[str], *, n_merges: int) -> SubwordCodec:
        """Learn merges from lines of both languages."""
        return cls(SubwordTokenizer.train(lines, n_merges=n_merges))

    def encode(self, text: str) -> list[int]:
        """Return the ids of a sentence."""
        return self.tokenizer.encode(text)

    encode_target = encode

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text that the ids spell."""
        return self.tokenizer.decode(ids)

    def to_text(self) -> str:
        """Return the tokenizer as JSON."""
        tokenizer = json.loads(self.tokenizer._backend.to_str())
        return json.dumps({"kind": "subwords", "tokenizer": tokenizer}, ensure_ascii=False)

    def __len__(self) -> int:
        return len(self.tokenizer)


class PhrasebookCodec:
    """Words of the phrasebook, written and read as sentences."""

    def __init__(
        self, vocabulary: Vocabulary, source_language: str = "fr", target_language: str = "en"
    ) -> None:
        self.vocabulary = vocabulary
        self.source_language, self.target_language = source_language, target_language

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


def codec_from_text(
    text: str,
) -> SubwordCodec | PhrasebookCodec | TreeCodec | SentencePieceCodec:
    """Read what `to_text` wrote.

    Raises:
        ValueError: the text is damaged, or of another kind.
        ModuleNotFoundError: it asks for a package that is not installed.
    """
    try:
        content = json.loads(text)
        kind = content["kind"]
        if kind == "subwords":
            return SubwordCodec(SubwordTokenizer.from_json(json.dumps(content["tokenizer"])))
        if kind == "words":
            source, target = content["languages"]
            return PhrasebookCodec(_vocabulary(content["words"]), source, target)
        if kind == "trees":
            words, symbols = _vocabulary(content["words"]), _vocabulary(content["symbols"])
            options = {name: content[name] for name in ("leaf", "gold_tags", "max_run")}
            return TreeCodec(words, symbols, **options)
        if kind == "sentencepiece":
            return SentencePieceCodec.from_content(content)
    except (ValueError, TypeError, KeyError) as error:
        raise ValueError(f"the tokenizer is damaged: {error!r}") from error
    kinds = "'subwords', 'words', 'trees' or 'sentencepiece'"
    raise ValueError(f"kind of tokenizer must be {kinds}, got {kind!r}")


def _vocabulary(tokens: Sequence[str]) -> Vocabulary:
    if not all(isinstance(token, str) for token in tokens):
        raise TypeError("words must be text")
    return Vocabulary(tokens)
