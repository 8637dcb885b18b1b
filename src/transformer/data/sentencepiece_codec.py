"""Text to ids as published Marian models have it: SentencePiece, and a vocabulary of their own."""

from __future__ import annotations

import json
import warnings
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

from transformer.config import UNK_ID

SPACE = "▁"
TIDY = {
    **{f" {mark}": mark for mark in ".?!,"},
    " ' ": "'",
    **{f" {end}": end for end in ("n't", "'m", "'s", "'ve", "'re")},
}
"""What transformers' `clean_up_tokenization_spaces` replaces, in its order."""


class SentencePieceCodec:
    """Pieces of a source and of a target model, numbered by one vocabulary for both.

    `tokens` stand in the order of their ids, padding, start, end and unknown first. A source may
    begin with the language to translate into, as in ">>fra<< Good morning", where the vocabulary
    has such codes. `tidy` takes the spaces before punctuation out of what is decoded.

    Raises:
        ValueError: a token stands there twice, or a model is damaged.
        ModuleNotFoundError: the package sentencepiece is not installed.
    """

    def __init__(
        self, source: bytes, target: bytes, tokens: Sequence[str], *, tidy: bool = False
    ) -> None:
        self.models, self.tokens, self.tidy = (source, target), list(tokens), tidy
        # No text spells a special token: their names are not looked up.
        self.ids = {token: n for n, token in enumerate(self.tokens) if n > UNK_ID}
        if len(set(self.tokens)) < len(self.tokens):
            raise ValueError("every token of a vocabulary must stand there once")
        self.codes = [token for token in self.ids if _is_code(token)]
        self.source, self.target = _processor(source), _processor(target)

    def encode(self, text: str) -> list[int]:
        """Return the ids of a source sentence; pieces that are not in the vocabulary are unknown.

        Raises:
            ValueError: the text begins with a language code that this model does not have.
        """
        end = text.find("<<") + 2
        code = [text[:end]] if text.startswith(">>") and end > 1 else []
        if code and self.codes and code[0] not in self.ids:
            some = ", ".join(self.codes[:20])
            raise ValueError(f"the language must be one of {some}, got {code[0]}")
        text = text[end:] if code else text
        return self._numbered([*code, *self.source.encode(text, out_type=str)])

    def encode_target(self, text: str) -> list[int]:
        """Return the ids of a target sentence."""
        return self._numbered(self.target.encode(text, out_type=str))

    def decode(self, ids: Sequence[int]) -> str:
        """Return the target text of the ids; special tokens are left out."""
        pieces = [self.tokens[number] for number in ids if number > UNK_ID]
        text: str = self.target.decode_pieces(pieces).replace(SPACE, " ").strip()
        if self.tidy:
            for apart, together in TIDY.items():
                text = text.replace(apart, together)
        return text

    def to_text(self) -> str:
        """Return both models and the vocabulary as JSON."""
        source, target = (b64encode(model).decode() for model in self.models)
        models = {"kind": "sentencepiece", "source": source, "target": target}
        content = {**models, "tokens": self.tokens, "tidy": self.tidy}
        return json.dumps(content, ensure_ascii=False)

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> SentencePieceCodec:
        """Rebuild a codec from what `to_text` wrote, read as JSON."""
        source, target = (b64decode(content[side], validate=True) for side in ("source", "target"))
        return cls(source, target, content["tokens"], tidy=content["tidy"])

    def __len__(self) -> int:
        return len(self.tokens)

    def _numbered(self, pieces: Sequence[str]) -> list[int]:
        return [self.ids.get(piece, UNK_ID) for piece in pieces]


def _is_code(token: str) -> bool:
    return token.startswith(">>") and token.endswith("<<")


def _processor(model: bytes) -> Any:
    if find_spec("sentencepiece") is None:
        raise ModuleNotFoundError(
            "this model's tokenizer needs SentencePiece: pip install sentencepiece"
        )
    with warnings.catch_warnings():  # of how the package was built
        warnings.simplefilter("ignore", DeprecationWarning)
        from sentencepiece import SentencePieceProcessor
    try:
        return SentencePieceProcessor(model_proto=model)
    except RuntimeError as error:
        raise ValueError(f"no SentencePiece model: {error}") from None
