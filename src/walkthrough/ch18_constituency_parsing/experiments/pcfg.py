"""A probabilistic context-free grammar read off a treebank, and CKY with it: the baseline (§6.3).

Rules are counted in the training trees, no more. Two old improvements (Johnson 1998, Klein and
Manning 2003): a label knows its parent's (`NP^S`), and a long rule is cut into pairs that remember
one or two neighbours. Words come with the tags they were seen with; unknown ones, by their class.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer.parsing.trees import TaggedTree, Tree, leaves
from transformer.parsing.word_classes import word_class

ROOT = "ROOT"
KEPT, SPREAD = 50, 11.0
"""A cell keeps that many symbols, none of which is less likely than the best by more nats."""

Array = NDArray[Any]
Chains = dict[tuple[int, int], tuple[float, tuple[int, ...]]]
"""From a symbol to one below it: the score of the unary rules, and the symbols on the way."""


@dataclass(frozen=True)
class Lexicon:
    """How likely each tag makes a word, up to a factor that depends on the word alone."""

    tags: tuple[str, ...]
    of_word: dict[str, Counter[str]]
    of_class: dict[str, Counter[str]]
    of_rare: Counter[str]
    total: Counter[str]

    @classmethod
    def read(cls, trees: Iterable[tuple[Sequence[str], Sequence[str]]]) -> Lexicon:
        """Count words and tags; what was seen once stands for what will be unknown."""
        of_word: dict[str, Counter[str]] = defaultdict(Counter)
        total: Counter[str] = Counter()
        for words, tags in trees:
            for word, tag in zip(words, tags, strict=True):
                of_word[word][tag] += 1
                total[tag] += 1
        of_class: dict[str, Counter[str]] = defaultdict(Counter)
        of_rare: Counter[str] = Counter()
        for word, counts in of_word.items():
            if counts.total() == 1:
                of_class[word_class(word)] += counts
                of_rare += counts
        return cls(tuple(sorted(total)), dict(of_word), dict(of_class), of_rare, total)

    def scores(self, word: str) -> dict[str, float]:
        """Return log P(word | tag) + a constant for every tag that the word may have."""
        classes = self.of_class.get(word_class(word), self.of_rare)
        counts = self.of_word.get(word, Counter())
        smoothed = {tag: n / classes.total() for tag, n in classes.items()}
        if counts.total() >= 20:
            smoothed = {}  # its tags are known
        return {
            tag: log((counts[tag] + smoothed.get(tag, 0.0)) / self.total[tag])
            for tag in {*counts, *smoothed}
        }


class Grammar:
    """Rules with probabilities, in arrays that CKY can search."""

    def __init__(
        self, trees: Sequence[TaggedTree], *, vertical: int = 2, horizontal: int = 1
    ) -> None:
        if vertical not in (1, 2) or horizontal < 0:
            raise ValueError(f"vertical is 1 or 2, horizontal 0 or more: {vertical}, {horizontal}")
        self.vertical, self.horizontal = vertical, horizontal
        self.lexicon = Lexicon.read((tuple(leaves(tree)), tags) for tree, tags in trees)
        binary: Counter[tuple[Hashable, Hashable, Hashable]] = Counter()
        unary: Counter[tuple[Hashable, Hashable]] = Counter()
        for tree, tags in trees:
            remaining = iter(tags)
            self._count(ROOT, [_with_tags(tree, remaining)], ROOT, binary, unary)
        parents: Counter[Hashable] = Counter()
        for (parent, *_), n in [*binary.items(), *unary.items()]:
            parents[parent] += n
        tags = self.lexicon.tags
        self.symbols: list[Hashable] = [*tags, *sorted(set(parents), key=str)]
        self.number = {symbol: index for index, symbol in enumerate(self.symbols)}
        number = self.number
        rules = [
            (number[a], number[b], number[c], log(n / parents[a]))
            for (a, b, c), n in binary.items()
        ]
        self.rules = np.array([rule[:3] for rule in rules], dtype=np.int64)
        self.rule_scores = np.array([rule[3] for rule in rules], dtype=np.float32)
        self._close({(number[a], number[b]): log(n / parents[a]) for (a, b), n in unary.items()})
        total = parents.total() + self.lexicon.total.total()
        self.prior = np.array(
            [
                log((parents[s] or self.lexicon.total[str(s)]) / total) if s != ROOT else 0.0
                for s in self.symbols
            ],
            dtype=np.float32,
        )

    def parse(self, words: Sequence[str], tags: Sequence[str] | None = None) -> Tree | None:
        """Return the most probable tree that survives pruning; None where no tree does.

        With `tags` the tags are given, else each word may have those of the lexicon.
        """
        chart = _Chart(self, len(words))
        for place, word in enumerate(words):
            own = {tags[place]: 0.0} if tags is not None else self.lexicon.scores(word)
            chart.fill_word(place, {self.number[t]: s for t, s in own.items() if t in self.number})
        for width in range(2, len(words) + 1):
            for start in range(len(words) - width + 1):
                chart.fill(start, start + width)
        return chart.tree(words)

    def _count(
        self, label: Hashable, children: list[Any], parent: str, binary: Any, unary: Any
    ) -> None:
        raw = label[0] if isinstance(label, tuple) else str(label)
        names = [
            child if isinstance(child, str) else self._annotated(child[0], raw)
            for child in children
        ]
        if len(names) == 1:
            unary[label, names[0]] += 1
        left = label
        for place in range(len(names) - 1):
            rest: Hashable = names[-1]
            if place < len(names) - 2:
                seen = tuple(names[max(0, place + 1 - self.horizontal) : place + 1])
                rest = ("…", label, seen)
            binary[left, names[place], rest] += 1
            left = rest
        for child, name in zip(children, names, strict=True):
            if not isinstance(child, str):
                self._count(name, child[1], raw, binary, unary)

    def _annotated(self, label: str, parent: str) -> Hashable:
        return (label, parent if self.vertical == 2 else "")

    def _close(self, unary: dict[tuple[int, int], float]) -> None:
        """Find the best chain of unary rules from each symbol to each below it."""
        best: Chains = {pair: (score, (pair[1],)) for pair, score in unary.items()}
        below: dict[int, list[tuple[int, float]]] = defaultdict(list)
        for (a, b), score in unary.items():
            below[a].append((b, score))
        fresh = dict(best)
        while fresh:  # chains one rule longer, as long as they are better than shorter ones
            found: Chains = {}
            for (a, b), (score, chain) in fresh.items():
                for c, more in below[b]:
                    if c == a or c in chain:
                        continue
                    total = score + more
                    if total > best.get((a, c), (-np.inf,))[0] + 1e-9:
                        best[a, c] = found[a, c] = (total, (*chain, c))
            fresh = found
        pairs = list(best)
        self.unary = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        self.unary_scores = np.array([best[pair][0] for pair in pairs], dtype=np.float32)
        self.chains = [best[pair][1] for pair in pairs]


class _Chart:
    """Cells of a sentence: for every span the symbols kept, their scores, and where from."""

    def __init__(self, grammar: Grammar, n: int) -> None:
        self.grammar, self.n = grammar, n
        shape = (n, n + 1, KEPT)
        self.ids = np.zeros(shape, dtype=np.int64)
        self.scores = np.full(shape, -np.inf, dtype=np.float32)
        self.rule = np.full(shape, -1, dtype=np.int32)  # −1: a word's tag
        self.split = np.zeros(shape, dtype=np.int32)
        self.chain = np.full(shape, -1, dtype=np.int32)  # unary rules above

    def fill_word(self, place: int, tags: dict[int, float]) -> None:
        size = len(self.grammar.symbols)
        cell = np.full(size, -np.inf, dtype=np.float32)
        for tag, score in tags.items():
            cell[tag] = score
        rule, split = np.full(size, -1, dtype=np.int32), np.zeros(size, dtype=np.int32)
        self._keep(place, place + 1, cell, rule, split)

    def fill(self, start: int, end: int) -> None:
        grammar, size = self.grammar, len(self.grammar.symbols)
        lefts = self.ids[start, start + 1 : end], self.scores[start, start + 1 : end]
        rights = self.ids[start + 1 : end, end], self.scores[start + 1 : end, end]
        dense, has = [], []
        for ids, scores in (lefts, rights):
            table = np.full((end - start - 1, size), -np.inf, dtype=np.float32)
            real = scores > -np.inf
            rows = np.nonzero(real)[0]
            table[rows, ids[real]] = scores[real]
            dense.append(table)
            active = np.zeros(size, dtype=bool)
            active[ids[real]] = True
            has.append(active)
        parents, b, c = grammar.rules.T
        fitting = np.nonzero(has[0][b] & has[1][c])[0]
        if not len(fitting):
            return
        pairs = dense[0][:, b[fitting]] + dense[1][:, c[fitting]]
        where = pairs.argmax(axis=0)
        scores = pairs[where, np.arange(len(fitting))] + grammar.rule_scores[fitting]
        order = scores.argsort(kind="stable")  # the best is written last
        rising, above = fitting[order], parents[fitting[order]]
        cell = np.full(size, -np.inf, dtype=np.float32)
        rule, split = np.full(size, -1, dtype=np.int32), np.zeros(size, dtype=np.int32)
        cell[above], rule[above] = scores[order], rising
        split[above] = where[order] + start + 1
        self._keep(start, end, cell, rule, split)

    def _keep(self, start: int, end: int, cell: Array, rule: Array, split: Array) -> None:
        grammar = self.grammar
        chain = np.full(len(cell), -1, dtype=np.int32)
        above, below = grammar.unary.T
        usable = np.nonzero(cell[below] > -np.inf)[0]
        totals = cell[below[usable]] + grammar.unary_scores[usable]
        order = totals.argsort(kind="stable")
        best = cell.copy()
        for index in order[totals[order] > best[above[usable[order]]]]:
            best[above[usable[index]]] = totals[index]
            chain[above[usable[index]]] = usable[index]
        merit = best + grammar.prior
        kept = np.nonzero(merit > merit.max() - SPREAD)[0]
        if len(kept) > KEPT:
            kept = kept[np.argpartition(-merit[kept], KEPT)[:KEPT]]
        at = (start, end, slice(0, len(kept)))
        bottom = np.where(chain[kept] >= 0, below[chain[kept]], kept)
        self.ids[at], self.scores[at], self.chain[at] = kept, best[kept], chain[kept]
        self.rule[at], self.split[at] = rule[bottom], split[bottom]

    def tree(self, words: Sequence[str]) -> Tree | None:
        """Return the tree under the root, its labels plain again and its tags gone."""
        root = self.grammar.number[ROOT]
        top = self._place(0, self.n, root)
        if top is None:
            return None
        (tree,) = self._children(0, self.n, root, words)
        return tree if isinstance(tree, tuple) else None

    def _place(self, start: int, end: int, symbol: int) -> int | None:
        found = np.nonzero((self.ids[start, end] == symbol) & (self.scores[start, end] > -np.inf))[
            0
        ]
        return int(found[0]) if len(found) else None

    def _children(self, start: int, end: int, symbol: int, words: Sequence[str]) -> list[Any]:
        """Return what hangs below a symbol: trees, and words in the place of tags."""
        place = self._place(start, end, symbol)
        assert place is not None
        rule, chain = int(self.rule[start, end, place]), int(self.chain[start, end, place])
        path: tuple[int, ...] = self.grammar.chains[chain] if chain >= 0 else ()
        if rule < 0:
            below: list[Any] = [words[start]]
            inner = path[:-1]  # the last is the tag
        else:
            split = int(self.split[start, end, place])
            _, left, right = map(int, self.grammar.rules[rule])
            below = [
                *self._trees(start, split, left, words),
                *self._trees(split, end, right, words),
            ]
            inner = path
        for number in reversed(inner):
            below = [(_plain(self.grammar.symbols[number]), *below)]
        return below

    def _trees(self, start: int, end: int, symbol: int, words: Sequence[str]) -> list[Any]:
        name = self.grammar.symbols[symbol]
        below = self._children(start, end, symbol, words)
        if isinstance(name, tuple) and name[0] != "…":
            return [(_plain(name), *below)]
        return below  # a tag, or a part of a rule that was cut


def _plain(symbol: Hashable) -> str:
    return symbol[0] if isinstance(symbol, tuple) else str(symbol)


def _with_tags(tree: Tree, tags: Any) -> Any:
    return (
        tree[0],
        [next(tags) if isinstance(child, str) else _with_tags(child, tags) for child in tree[1:]],
    )
