"""What turns a corpus's text into ids and back, in a form that a checkpoint can hold as text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from transformer.data.plugins import load_plugin
from transformer.data.tokenizer import SubwordTokenizer


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


@runtime_checkable
class OneVocabulary(TextCodec, Protocol):
    """A codec of text to text, both sides in one vocabulary (§5.1)."""

    @property
    def tokens(self) -> Sequence[str]:
        """All tokens in the order of their ids."""


class SubwordCodec:
    """Byte-pair encoding (§5.1)."""

    def __init__(self, tokenizer: SubwordTokenizer) -> None:
        self.tokenizer = tokenizer

    @classmethod
    def train(cls, lines: Iterable[str], *, n_merges: int) -> SubwordCodec:
        """Learn merges from lines of both languages."""
        return cls(SubwordTokenizer.train(lines, n_merges=n_merges))

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> SubwordCodec:
        """Rebuild a codec from what `to_text` wrote, read as JSON."""
        return cls(SubwordTokenizer.from_json(json.dumps(content["tokenizer"])))

    @property
    def tokens(self) -> list[str]:
        """All tokens in the order of their ids."""
        return self.tokenizer.tokens

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


KINDS = {
    "subwords": "transformer.data.codec:SubwordCodec",
    "words": "phrasebook.codec:PhrasebookCodec",
    "trees": "transformer.parsing.codec:TreeCodec",
    "sentencepiece": "transformer.data.sentencepiece_codec:SentencePieceCodec",
}
"""Where the class of each kind of tokenizer stands; it is imported when a text asks for it."""


def codec_from_text(text: str) -> TextCodec:
    """Read what `to_text` wrote.

    Raises:
        ValueError: the text is damaged, or of another kind.
        ModuleNotFoundError: it asks for a package that is not installed.
    """
    try:
        content = json.loads(text)
        kind = content["kind"]
        if kind in KINDS:
            codec: TextCodec = load_plugin(KINDS[kind]).from_content(content)
            return codec
    except (ValueError, TypeError, KeyError) as error:
        raise ValueError(f"the tokenizer is damaged: {error!r}") from error
    *kinds, last = map(repr, KINDS)
    raise ValueError(f"kind of tokenizer must be {', '.join(kinds)} or {last}, got {kind!r}")
