"""A word-level vocabulary: one list of words for both languages (Section 5.1 uses subwords)."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal

from transformer.config import BOS_ID, EOS_ID, PAD_ID, UNK_ID

SPECIALS = ("<pad>", "<s>", "</s>", "<unk>")
"""The special tokens in the order of their ids: padding, begin, end, unknown."""


class Vocabulary:
    """Words and their ids; the four special tokens come first."""

    def __init__(self, tokens: Sequence[str]) -> None:
        tokens = tuple(tokens)
        if not all(isinstance(token, str) for token in tokens):
            raise TypeError("words must be text")
        if tokens[: len(SPECIALS)] != SPECIALS:
            raise ValueError(
                f"a vocabulary starts with {list(SPECIALS)}, got {list(tokens[: len(SPECIALS)])}"
            )
        repeated = [token for token, count in Counter(tokens).items() if count > 1]
        if repeated:
            raise ValueError(f"a vocabulary holds every token once, repeated: {repeated[:5]}")
        self._tokens = tokens
        self._ids = {token: index for index, token in enumerate(tokens)}

    @classmethod
    def from_sentences(cls, sentences: Iterable[Sequence[str]]) -> Vocabulary:
        """Collect the words of tokenised sentences, most frequent first.

        Raises:
            ValueError: there is no sentence, or a special token occurs as a word.
        """
        counts = Counter(token for sentence in sentences for token in sentence)
        if not counts:
            raise ValueError("expected at least one word to build a vocabulary from, got none")
        reserved = [token for token in SPECIALS if token in counts]
        if reserved:
            raise ValueError(f"special tokens cannot be words of a sentence, got {reserved}")
        words = sorted(counts, key=lambda word: (-counts[word], word))
        return cls((*SPECIALS, *words))

    @property
    def tokens(self) -> tuple[str, ...]:
        """All tokens in the order of their ids."""
        return self._tokens

    def to_list(self) -> list[str]:
        """Return the tokens as a list that JSON can hold; `Vocabulary(list)` reads it back."""
        return list(self._tokens)

    def __len__(self) -> int:
        return len(self._tokens)

    def __contains__(self, token: object) -> bool:
        return token in self._ids

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and self._tokens == other._tokens

    def __hash__(self) -> int:
        return hash(self._tokens)

    def __repr__(self) -> str:
        return f"Vocabulary({len(self)} tokens)"

    def encode(
        self, tokens: Sequence[str], *, unknown: Literal["error", "unk"] = "error"
    ) -> list[int]:
        """Return the ids of tokens, without start and end.

        Raises:
            TypeError: tokens is a string instead of a sequence of words.
            ValueError: the sentence is empty, or `unknown` is neither "error" nor "unk".
            UnknownWordError: `unknown` is "error" and a word is; it names the closest known words.
        """
        if isinstance(tokens, str):
            raise TypeError(f"tokens must be a list of words, got the string {tokens!r}")
        if unknown not in ("error", "unk"):
            raise ValueError(f"unknown must be 'error' or 'unk', got {unknown!r}")
        if not tokens:
            raise ValueError("expected a sentence with at least one word, got an empty one")
        if unknown == "unk":
            return [
                UNK_ID if token in SPECIALS else self._ids.get(token, UNK_ID) for token in tokens
            ]
        for token in tokens:
            if token not in self._ids or token in SPECIALS:
                raise UnknownWordError(token, self._suggest(token))
        return [self._ids[token] for token in tokens]

    def decode(self, ids: Iterable[int]) -> list[str]:
        """Return the tokens of ids; ends at the first `</s>`, leaves out `<s>` and `<pad>`.

        Raises:
            ValueError: an id is not between 0 and the size of the vocabulary.
        """
        tokens = []
        for index in map(int, ids):
            if not 0 <= index < len(self):
                raise ValueError(f"token ids lie between 0 and {len(self) - 1}, got {index}")
            if index == EOS_ID:
                break
            if index not in (PAD_ID, BOS_ID):
                tokens.append(self._tokens[index])
        return tokens

    def _suggest(self, word: str) -> list[str]:
        by_lower: dict[str, str] = {}
        for token in self._tokens[len(SPECIALS) :]:
            by_lower.setdefault(token.lower(), token)
        close = difflib.get_close_matches(word.lower(), by_lower)
        return [by_lower[token] for token in close]


class UnknownWordError(ValueError):
    """The vocabulary does not hold `word`; `suggestions` are the closest words it holds."""

    def __init__(self, word: str, suggestions: Sequence[str] = ()) -> None:
        hint = f"; close to it: {', '.join(suggestions)}" if suggestions else ""
        super().__init__(f"the vocabulary does not hold the word {word!r}{hint}")
        self.word = word
        self.suggestions = list(suggestions)
