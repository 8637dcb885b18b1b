"""Sentences to ids and ids to trees: a vocabulary of words, and one of brackets and leaves (§6.3).

The two sides of a translator share one vocabulary (§5.1). Here the source has thousands of words
and the target some hundred symbols, so each has its own.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, get_args

from transformer.config import UNK_ID
from transformer.data.vocabulary import SPECIALS, Vocabulary
from transformer.parsing.symbols import (
    MAX_RUN,
    WORD,
    BracketConstraint,
    delinearize,
    is_bracket,
    longest_run,
)
from transformer.parsing.trees import TaggedTree, Tree, leaves
from transformer.parsing.word_classes import word_class

Leaf = Literal["XX", "number", "tag", "word"]
"""What stands for a word among the brackets: nothing of it, its place, its tag, or itself."""

HIGHEST = 100
"""Numbers as leaves count so far, then begin again at 1."""

_CLASS, _TAG = " class ", " tag "  # words hold no space, so these are no words


class TreeCodec:
    """Words of a line to ids, symbols of a linearised tree to ids and back.

    A line has spaces between all tokens. With `gold_tags`, every token is `word/TAG`, and the
    encoder reads the word, then its tag. Words that are not known are read as their class, where
    the vocabulary has classes. `max_run` is for `constraint`.

    Raises:
        ValueError: an unknown kind of leaf, a symbol that the kind needs is missing, gold tags
            with leaves that are `XX` or words, or max_run below 1.
    """

    def __init__(
        self,
        words: Vocabulary,
        symbols: Vocabulary,
        *,
        leaf: Leaf = "tag",
        gold_tags: bool = False,
        max_run: int = MAX_RUN,
    ) -> None:
        check_leaf(leaf, gold_tags=gold_tags)
        if max_run < 1:
            raise ValueError(f"max_run must be at least 1, got {max_run}")
        self.words, self.symbols, self.leaf, self.gold_tags = words, symbols, leaf, gold_tags
        self.max_run = max_run
        if not self.leaf_symbols:
            raise ValueError("the symbols hold no leaf, so no tree over words can be written")

    @classmethod
    def learn(
        cls,
        sources: Sequence[str],
        targets: Sequence[str],
        *,
        leaf: Leaf = "tag",
        gold_tags: bool = False,
        min_count: int = 2,
        tags: Collection[str] = (),
    ) -> TreeCodec:
        """Collect words and symbols from training lines; rarer words become their classes.

        With `min_count` 1 there are no classes, and a word that is not known is an error. `tags`
        are those of the treebank that may be given and that these lines may lack.
        """
        lacking = place_numbers(HIGHEST) if leaf == "number" else list(tags) if gold_tags else []
        symbols = Vocabulary.from_sentences([*(line.split(" ") for line in targets), lacking])
        max_run = max(longest_run(line.split(" ")) for line in targets)
        kind: dict[str, Any] = {"leaf": leaf, "gold_tags": gold_tags, "max_run": max_run}
        lines = [_split(line, gold_tags) for line in sources]
        counts = Counter(word for words, _ in lines for word in words)
        given = {tag for _, tagged in lines for tag in tagged} | set(tags if gold_tags else ())
        more = [f"{_TAG}{tag}" for tag in sorted(given)]
        if min_count == 1:
            words = Vocabulary.from_sentences(words for words, _ in lines)
            return cls(Vocabulary([*words.tokens, *more]), symbols, **kind)
        known = sorted(word for word, count in counts.items() if count >= min_count)
        classes = {word_class(word) for word in counts}
        tokens = [
            *SPECIALS,
            *(f"{_CLASS}{name}" for name in sorted(classes)),
            *more,
            *(word for word in known if word not in SPECIALS),
        ]
        return cls(Vocabulary(tokens), symbols, **kind)

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> TreeCodec:
        """Rebuild a codec from what `to_text` wrote, read as JSON."""
        words, symbols = Vocabulary(content["words"]), Vocabulary(content["symbols"])
        options = {name: content[name] for name in ("leaf", "gold_tags", "max_run")}
        return cls(words, symbols, **options)

    def encode(self, text: str) -> list[int]:
        """Return the ids of a line.

        Raises:
            ValueError: an empty line; a word that is not known, if there are no classes; with gold
                tags, a token without a tag, or a tag that training never saw.
        """
        return self._encode(text, lambda: False)

    def encode_with_dropout(self, text: str, dropout: float, generator: random.Random) -> list[int]:
        """Return the ids of a line in which words are read as their classes with that probability.

        For training only: so the classes are met in all places where words are, and a sentence is
        not learned by heart.
        """
        return self._encode(text, lambda: generator.random() < dropout)

    def encode_target(self, text: str) -> list[int]:
        """Return the ids of a linearised tree; labels that training never saw become unknown."""
        return self.symbols.encode(text.split(" "), unknown="unk")

    def decode(self, ids: Sequence[int]) -> str:
        """Return the symbols as a line: `(S (NP XX )NP (VP XX )VP )S`."""
        return " ".join(self.symbols.decode(ids))

    def tree(self, symbols: str, source: str) -> Tree:
        """Return the tree over the words of a source line.

        Raises:
            ValueError: the symbols are no tree over these words.
        """
        words, _ = _split(source, self.gold_tags)
        return delinearize(symbols.split(" "), words, self.leaf_symbols)

    def constraint(self, sources: Sequence[Sequence[int]]) -> BracketConstraint:
        """Return the rules for the trees of these source ids: legal brackets, all leaves."""
        allowed = [self._leaves(ids) for ids in sources]
        return BracketConstraint(self.symbols, allowed, self.max_run)

    @property
    def target_size(self) -> int:
        """Number of symbols on the target side."""
        return len(self.symbols)

    @cached_property
    def leaf_symbols(self) -> frozenset[str]:
        """The symbols that stand for words."""
        symbols = {s for s in self.symbols.tokens[len(SPECIALS) :] if not is_bracket(s)}
        if self.leaf == "number":
            return frozenset(symbols.intersection(place_numbers(HIGHEST)))
        return frozenset(s for s in symbols if self.leaf != "XX" or s == WORD)

    def to_text(self) -> str:
        """Return both vocabularies as JSON."""
        content = {
            "kind": "trees",
            "leaf": self.leaf,
            "gold_tags": self.gold_tags,
            "max_run": self.max_run,
            "words": self.words.to_list(),
            "symbols": self.symbols.to_list(),
        }
        return json.dumps(content, ensure_ascii=False)

    def __len__(self) -> int:
        return len(self.words)

    def _encode(self, text: str, is_hidden: Callable[[], bool]) -> list[int]:
        words, tags = _split(text, self.gold_tags)
        tokens = [self._read(word, is_hidden()) for word in words]
        known = self.words.encode(tokens, unknown="unk" if self._has_classes else "error")
        if not self.gold_tags:
            return known
        for tag in tags:
            if tag not in self._known_tags:
                known_tags = " ".join(sorted(self._known_tags))
                raise ValueError(f"unknown tag {tag!r}; training knows {known_tags}")
        read = self.words.encode([f"{_TAG}{tag}" for tag in tags])
        return [number for pair in zip(known, read, strict=True) for number in pair]

    def _read(self, word: str, is_hidden: bool) -> str:
        if not self._has_classes:
            return word
        return word if word in self.words and not is_hidden else f"{_CLASS}{word_class(word)}"

    @cached_property
    def _has_classes(self) -> bool:
        return any(token.startswith(_CLASS) for token in self.words.tokens)

    @cached_property
    def _all_leaves(self) -> frozenset[int]:
        return frozenset(self.symbols.encode(sorted(self.leaf_symbols)))

    @cached_property
    def _known_tags(self) -> frozenset[str]:
        """The tags that can be read and, where they are the leaves, written."""
        read = {t.removeprefix(_TAG) for t in self.words.tokens if t.startswith(_TAG)}
        return frozenset(read & self.leaf_symbols if self.leaf == "tag" else read)

    @cached_property
    def _own_leaf(self) -> dict[int, frozenset[int]]:
        """For each id of the source, the leaf that it decides: the word itself, or its gold tag."""
        decided = {}
        for number, token in enumerate(self.words.tokens):
            symbol = token.removeprefix(_TAG) if self.gold_tags else token
            if symbol in self.leaf_symbols and (token != symbol or not self.gold_tags):
                decided[number] = frozenset(self.symbols.encode([symbol]))
        return decided

    def _leaves(self, ids: Sequence[int]) -> list[frozenset[int]]:
        if self.leaf == "number":
            numbers = place_numbers(len(ids) // 2 if self.gold_tags else len(ids))
            return [frozenset({place}) for place in self.symbols.encode(numbers)]
        if self.gold_tags:
            return [self._own_leaf[number] for number in ids[1::2]]
        if self.leaf == "word":
            return [self._own_leaf.get(number, frozenset({UNK_ID})) for number in ids]
        return [self._all_leaves] * len(ids)


def check_leaf(leaf: str, *, gold_tags: bool) -> None:
    """Raise ValueError for an unknown kind of leaf, and for one that does not go with gold tags."""
    if leaf not in get_args(Leaf):
        raise ValueError(f"leaf must be one of {get_args(Leaf)}, got {leaf!r}")
    if gold_tags and leaf not in ("tag", "number"):
        raise ValueError(f"gold tags need leaves that are tags or numbers, got leaf={leaf!r}")


def symbols_of_leaves(leaf: Leaf, tagged: TaggedTree) -> list[str] | None:
    """Return what stands for the words of a tree, as `linearize` takes it.

    Raises:
        ValueError: an unknown kind of leaf.
    """
    check_leaf(leaf, gold_tags=False)
    if leaf == "tag":
        return list(tagged.tags)
    if leaf == "number":
        return place_numbers(len(tagged.tags))
    if leaf == "word":
        return list(leaves(tagged.tree))
    return None


def place_numbers(n_words: int) -> list[str]:
    """Return the numbers that stand for the words of a sentence: 1, 2, … 100, 1, 2, …."""
    return [str(place % HIGHEST + 1) for place in range(n_words)]


def tagged_line(words: Iterable[str], tags: Iterable[str]) -> str:
    """Return the source line of a sentence whose tags are given: `The/DT cat/NN`."""
    return " ".join(f"{word}/{tag}" for word, tag in zip(words, tags, strict=True))


def _split(text: str, gold_tags: bool) -> tuple[list[str], list[str]]:
    tokens = text.split()
    if not gold_tags:
        return tokens, []
    pairs = [token.rpartition("/") for token in tokens]
    bare = [word or tag for word, slash, tag in pairs if not (word and slash and tag)]
    if bare:
        raise ValueError(f"this model reads word/TAG, as in cats/NNS; {bare[0]!r} has no tag")
    return [word for word, _, _ in pairs], [tag for _, _, tag in pairs]
