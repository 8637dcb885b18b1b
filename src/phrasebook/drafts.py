"""A sentence pair while it is being built: both trees grow together and share links."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, TypeVar

from phrasebook.example import Example
from phrasebook.orthography import choose_article, contract, elide
from transformer.parsing.trees import Tree

T = TypeVar("T")
Node = list[Any]  # [label, child, …]; a child is a Node or a Leaf


@dataclass
class Leaf:
    """One word of a growing tree; words of the two languages that share a link are aligned."""

    word: str
    links: tuple[int, ...] = ()


@dataclass
class Draft:
    """The random choices, links and facts of one sentence pair."""

    rng: random.Random
    n_links: int = 0
    combinations: list[tuple[str, str, str]] = field(default_factory=list)
    antecedents: list[tuple[int, int]] = field(default_factory=list)  # pairs of links

    def link(self) -> int:
        """Return a link that no word has yet."""
        self.n_links += 1
        return self.n_links

    def chance(self, probability: float) -> bool:
        """Whether something of this probability happens."""
        return self.rng.random() < probability

    def pick(self, options: Sequence[T]) -> T:
        """Return one of the options, all equally likely."""
        return options[int(self.rng.random() * len(options))]

    def combine(self, kind: str, first: str, second: str) -> None:
        """Note that this sentence puts two words together."""
        self.combinations.append((kind, first, second))


def _collect(node: Node, found: list[Leaf]) -> None:
    for child in node[1:]:
        if isinstance(child, Leaf):
            found.append(child)
        else:
            _collect(child, found)


def _spell_french(found: list[Leaf]) -> list[Leaf]:
    for previous, leaf in pairwise(found):
        previous.word = elide(previous.word, leaf.word)
    kept = found[:1]
    for leaf in found[1:]:
        merged = contract(kept[-1].word, leaf.word)
        if merged:
            kept[-1].word, leaf.word = merged, ""
            kept[-1].links += leaf.links
        else:
            kept.append(leaf)
    return kept


def _spell_english(found: list[Leaf]) -> list[Leaf]:
    for previous, leaf in pairwise(found):
        previous.word = choose_article(previous.word, leaf.word)
    return found


def _freeze(node: Node) -> Tree:
    children: list[Tree | str] = []
    for child in node[1:]:
        if not isinstance(child, Leaf):
            children.append(_freeze(child))
        elif child.word:
            children.append(child.word)
    return (node[0], *children)


def finish(draft: Draft, structure: str, french: Node, english: Node) -> Example:
    """Spell both sentences out, and turn shared links into alignment and antecedents."""
    found: tuple[list[Leaf], list[Leaf]] = ([], [])
    _collect(french, found[0])
    _collect(english, found[1])
    sides = (_spell_french(found[0]), _spell_english(found[1]))
    positions: tuple[dict[int, list[int]], dict[int, list[int]]] = ({}, {})
    for side, position in zip(sides, positions, strict=True):
        for index, leaf in enumerate(side):
            for link in leaf.links:
                position.setdefault(link, []).append(index)
    source, target = positions
    antecedents = [
        tuple(sorted((position[word][-1], position[noun][-1]) for word, noun in draft.antecedents))
        for position in positions
    ]
    return Example(
        source=tuple(leaf.word for leaf in sides[0]),
        target=tuple(leaf.word for leaf in sides[1]),
        alignment=frozenset(
            (i, j) for link in source for i in source[link] for j in target.get(link, ())
        ),
        source_tree=_freeze(french),
        target_tree=_freeze(english),
        source_antecedents=antecedents[0],
        target_antecedents=antecedents[1],
        structure=structure,
        combinations=tuple(sorted(set(draft.combinations))),
    )
