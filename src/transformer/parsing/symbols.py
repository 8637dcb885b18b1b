"""Constituency trees as symbols for a decoder to write, and the rules such symbols keep (§6.3)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any, NamedTuple

import torch
from jaxtyping import Bool
from torch import Tensor

from transformer.config import EOS_ID
from transformer.data.vocabulary import Vocabulary
from transformer.parsing.trees import Tree, leaves

WORD = "XX"
"""Stands for any word in a linearised tree: the words are known from the input."""

MAX_RUN = 10
"""Most brackets that may open before a word comes, where no training trees say less."""


def linearize(tree: Tree, leaf_symbols: Sequence[str] | None = None) -> list[str]:
    """Write a tree as symbols for a decoder to predict (Vinyals et al. 2015).

    `(S (NP Jane) (VP sings))` becomes `(S (NP XX )NP (VP XX )VP )S`. With `leaf_symbols`, one for
    each word (its tag, or the word itself), these stand in the place of `XX`.

    Raises:
        ValueError: more or fewer leaf symbols than words, or one that looks like a bracket.
    """
    if leaf_symbols is None:
        return _symbols(tree, repeat(WORD))
    n_words = sum(1 for _ in leaves(tree))
    if len(leaf_symbols) != n_words:
        raise ValueError(f"{n_words} words need as many leaf symbols, got {len(leaf_symbols)}")
    for symbol in leaf_symbols:
        if is_bracket(symbol):
            raise ValueError(f"a leaf symbol must not look like a bracket, got {symbol!r}")
    return _symbols(tree, iter(leaf_symbols))


def delinearize(
    symbols: Sequence[str], words: Sequence[str], leaf_symbols: Collection[str] = (WORD,)
) -> Tree:
    """Rebuild the tree of a sentence from its symbols: `linearize` undone.

    Every one of `leaf_symbols` stands for the next word, whichever it is.

    Raises:
        ValueError: saying what is wrong with symbols that are no tree over these words. A model
            may well write such; `score_brackets` takes None for them.
    """
    n_leaves = sum(symbol in leaf_symbols for symbol in symbols)
    if n_leaves != len(words):
        named = WORD if tuple(leaf_symbols) == (WORD,) else "leaves"
        raise ValueError(f"{len(words)} words need as many {named}, got {n_leaves}")
    remaining = iter(words)
    open_nodes: list[list[Any]] = []
    for position, symbol in enumerate(symbols):
        if _is_opening(symbol) and symbol not in leaf_symbols:
            open_nodes.append([symbol[1:]])
            continue
        if not open_nodes:
            raise ValueError(f"expected an opening bracket at position {position}, got {symbol!r}")
        if symbol in leaf_symbols:
            open_nodes[-1].append(next(remaining))
            continue
        if symbol != f"){open_nodes[-1][0]}":
            known = "" if symbol[:1] in "()" else ", which is none of the leaf symbols"
            raise ValueError(f"expected ){open_nodes[-1][0]} or a child, got {symbol!r}{known}")
        node = tuple(open_nodes.pop())
        if len(node) < 2:
            raise ValueError(f"a constituent needs a child, got an empty {node[0]}")
        if open_nodes:
            open_nodes[-1].append(node)
        elif position + 1 < len(symbols):
            raise ValueError(f"expected the end after the tree, got {symbols[position + 1]!r}")
        else:
            return node
    raise ValueError(f"expected {len(open_nodes) or 'one tree and its'} more closing brackets")


def longest_run(symbols: Sequence[str]) -> int:
    """Return how many brackets open in a row, at most."""
    longest = run = 0
    for symbol in symbols:
        run = run + 1 if _is_opening(symbol) else 0
        longest = max(longest, run)
    return longest


class BracketState(NamedTuple):
    """How far a hypothesis is: open brackets as a linked list, words written, brackets in a row."""

    sentence: int
    n_leaves: int = 0
    open_ones: tuple[int, Any] | None = None
    run: int = 0
    is_done: bool = False


@dataclass(frozen=True)
class BracketConstraint:
    """Which symbols may come next: legal brackets, and exactly as many leaves as words (§6.3).

    A mask over the vocabulary in the convention of `transformer.masks`: True = may. `leaves` holds,
    for each sentence and word, the ids of what may stand for that word. It is a `Constraint` of
    `transformer.inference`. What it allows can always be finished: a bracket opens only while a
    word is left for it, and not more than `max_run` in a row.
    """

    symbols: Vocabulary
    leaves: Sequence[Sequence[frozenset[int]]]
    max_run: int = MAX_RUN
    masks: dict[Any, Tensor] = field(default_factory=dict, repr=False)
    closing: dict[int, int] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        """Pair every opening bracket with its closing one."""
        ids = {symbol: number for number, symbol in enumerate(self.symbols.tokens)}
        for symbol, number in ids.items():
            if _is_opening(symbol):
                if f"){symbol[1:]}" not in ids:
                    raise ValueError(f"the vocabulary holds {symbol} without ){symbol[1:]}")
                self.closing[number] = ids[f"){symbol[1:]}"]

    def start(self, sentence: int) -> BracketState:
        """Return the state before the first symbol of a sentence."""
        return BracketState(sentence)

    def step(self, state: BracketState, token: int) -> BracketState:
        """Return the state after one more symbol, one of those that were allowed."""
        if token in self.closing:
            return state._replace(open_ones=(token, state.open_ones), run=state.run + 1)
        if state.open_ones is not None and token == self.closing[state.open_ones[0]]:
            rest = state.open_ones[1]
            return state._replace(open_ones=rest, is_done=rest is None)
        return state._replace(n_leaves=state.n_leaves + 1, run=0)

    def allowed(self, state: BracketState) -> Bool[Tensor, " vocab_size"]:
        """Return the mask of what may come next."""
        if state.is_done:
            return self._mask(False, frozenset({EOS_ID}), None)
        words = self.leaves[state.sentence]
        has_words = state.n_leaves < len(words)
        can_open = has_words and state.run < self.max_run
        if state.open_ones is None:
            return self._mask(can_open, frozenset(), None)
        opening, rest = state.open_ones
        # an empty constituent may not close, and the last one not before the last word
        can_close = state.run == 0 and not (rest is None and has_words)
        leaves = words[state.n_leaves] if has_words else frozenset()
        return self._mask(can_open, leaves, self.closing[opening] if can_close else None)

    def _mask(self, can_open: bool, others: frozenset[int], closing: int | None) -> Tensor:
        key = (can_open, others, closing)
        if key not in self.masks:
            mask = torch.zeros(len(self.symbols), dtype=torch.bool)
            mask[[*others, *([] if closing is None else [closing])]] = True
            if can_open:
                mask[list(self.closing)] = True
            self.masks[key] = mask
        return self.masks[key]


def is_bracket(symbol: str) -> bool:
    """Whether a symbol opens or closes a constituent."""
    return _is_opening(symbol) or _is_closing(symbol)


def _is_opening(symbol: str) -> bool:
    return symbol.startswith("(") and len(symbol) > 1


def _is_closing(symbol: str) -> bool:
    return symbol.startswith(")") and len(symbol) > 1


def _symbols(tree: Tree, leaf_symbols: Iterator[str]) -> list[str]:
    symbols = [f"({tree[0]}"]
    for child in tree[1:]:
        symbols += [next(leaf_symbols)] if isinstance(child, str) else _symbols(child, leaf_symbols)
    return [*symbols, f"){tree[0]}"]
