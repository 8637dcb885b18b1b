"""One sentence pair of the phrasebook: tokens, gold word alignment, trees, antecedents."""

from __future__ import annotations

from dataclasses import dataclass

from phrasebook.orthography import detokenize
from transformer.parsing.trees import Tree

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
