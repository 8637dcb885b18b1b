"""One sentence pair of the phrasebook: tokens, gold word alignment, trees, antecedents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from transformer.data.phrasebook.orthography import detokenize

# A tree is (label, child, …) where a child is a tree or a token. `tuple[str, ...]` cannot say
# that the tail nests, so the alias stays loose and `leaves` and `parse_brackets` check instead.
Tree = tuple[Any, ...]
Links = frozenset[tuple[int, int]]


@dataclass(frozen=True)
class Example:
    """A French sentence, its one English translation, and everything that is known about them.

    `alignment` holds (source index, target index) pairs; every target token has at least one.
    A French word without an English counterpart (the article of `l'Afrique`) has none.
    Antecedents are (index of the pronoun or possessive, index of the noun it stands for).
    `combinations` names the pairs of words that the splits hold out (see `splits.py`).
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    alignment: Links
    source_tree: Tree
    target_tree: Tree
    source_antecedents: tuple[tuple[int, int], ...]
    target_antecedents: tuple[tuple[int, int], ...]
    structure: str
    combinations: tuple[tuple[str, str, str], ...]

    @property
    def source_text(self) -> str:
        """The French sentence as it is written, with capital and full stop."""
        return detokenize(self.source, "fr")

    @property
    def target_text(self) -> str:
        """The English sentence as it is written, with capital and full stop."""
        return detokenize(self.target, "en")


def leaves(tree: Tree) -> Iterator[str]:
    """Yield the tokens of a tree from left to right."""
    for child in tree[1:]:
        if isinstance(child, str):
            yield child
        else:
            yield from leaves(child)


def brackets(tree: Tree) -> str:
    """Write a tree as a bracket string: `(S (NP Jane) (VP sings))`."""
    parts = (child if isinstance(child, str) else brackets(child) for child in tree[1:])
    return f"({tree[0]} {' '.join(parts)})"


def parse_brackets(text: str) -> Tree:
    """Read a bracket string back into nested tuples.

    Raises:
        ValueError: the brackets do not close, a node has no label or child, or text follows.
    """
    stack: list[list[Any]] = []
    symbols = text.replace("(", " ( ").replace(")", " ) ").split()
    for position, symbol in enumerate(symbols):
        if symbol == "(":
            stack.append([])
            continue
        if not stack:
            raise ValueError(f"expected '(' before {symbol!r} in {text!r}")
        if symbol != ")":
            stack[-1].append(symbol)
            continue
        node = tuple(stack.pop())
        if len(node) < 2 or not isinstance(node[0], str):
            raise ValueError(f"expected a label and at least one child, got {node!r} in {text!r}")
        if stack:
            stack[-1].append(node)
        elif position + 1 < len(symbols):
            raise ValueError(f"expected the end after the tree, got {symbols[position + 1]!r}")
        else:
            return node
    if not stack:
        raise ValueError(f"expected a tree, got {text!r}")
    raise ValueError(f"expected {len(stack)} more ')' at the end of {text!r}")
