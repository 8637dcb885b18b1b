"""Labelled bracketing F1 of constituency trees (Section 6.3, Table 4).

A tree is `(label, child, …)`, a child is a tree or a word, as in `transformer.parsing.trees`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from transformer.parsing.trees import Tree, leaves

Span = tuple[str, int, int]
"""Label, position of the first word, position after the last word."""


def labelled_spans(tree: Tree) -> Counter[Span]:
    """Count the constituents of a tree by label and place; one alone over another counts twice."""
    spans: Counter[Span] = Counter()
    _collect_spans(tree, 0, spans)
    return spans


@dataclass(frozen=True, kw_only=True)
class BracketScore:
    """Constituents counted over all sentences (as evalb does), and what follows from them."""

    n_correct: int
    n_predicted: int
    n_gold: int
    n_exact: int
    n_sentences: int

    @property
    def precision(self) -> float:
        """Share of predicted constituents that are right."""
        return self.n_correct / self.n_predicted if self.n_predicted else 0.0

    @property
    def recall(self) -> float:
        """Share of gold constituents that are found."""
        return self.n_correct / self.n_gold

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall: what Table 4 reports."""
        return 2 * self.n_correct / (self.n_predicted + self.n_gold)

    @property
    def exact(self) -> float:
        """Share of sentences whose whole tree is right."""
        return self.n_exact / self.n_sentences


def score_brackets(predicted: Sequence[Tree | None], gold: Sequence[Tree]) -> BracketScore:
    """Compare trees with the gold ones of the same sentences; None is a tree without constituents.

    evalb, the program behind Table 4, also leaves out punctuation and the label TOP; here all words
    and labels count.

    Raises:
        ValueError: for no sentences, different numbers of them, or trees over different words.
    """
    if len(predicted) != len(gold) or not gold:
        raise ValueError(
            "there must be one predicted tree for each of at least 1 gold tree, got "
            f"{len(predicted)} predicted and {len(gold)} gold"
        )
    n_correct = n_predicted = n_gold = n_exact = 0
    for number, (tree, gold_tree) in enumerate(zip(predicted, gold, strict=True)):
        gold_spans = labelled_spans(gold_tree)
        spans: Counter[Span] = Counter()
        if tree is not None:
            spans = labelled_spans(tree)
            if list(leaves(tree)) != list(leaves(gold_tree)):
                raise ValueError(
                    f"trees of sentence {number} must have the same words, got "
                    f"{' '.join(leaves(tree))!r} and {' '.join(leaves(gold_tree))!r}"
                )
        n_correct += (spans & gold_spans).total()
        n_predicted += spans.total()
        n_gold += gold_spans.total()
        n_exact += tree == gold_tree
    return BracketScore(
        n_correct=n_correct,
        n_predicted=n_predicted,
        n_gold=n_gold,
        n_exact=n_exact,
        n_sentences=len(gold),
    )


def _collect_spans(tree: Tree, start: int, spans: Counter[Span]) -> int:
    end = start
    for child in tree[1:]:
        end = end + 1 if isinstance(child, str) else _collect_spans(child, end, spans)
    spans[tree[0], start, end] += 1
    return end
