"""What is counted of predicted trees, in more than one way, and trees without a parser."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer.parsing.brackets import Span, labelled_spans, score_brackets
from transformer.parsing.trees import Tree, leaves

Pairs = Sequence[tuple[Tree | None, Tree]]
PUNCTUATION = frozenset({",", ".", ":", "``", "''", ";", "?", "!", "…", "–", "--", '"'})


def flat(words: Sequence[str]) -> Tree:
    """Return one constituent with all words."""
    return ("S", *words)


def right_branching(words: Sequence[str]) -> Tree:
    """Return the tree in which each word is followed by a phrase with the rest, all of one label.

    A mark at the end hangs on the root, as in a treebank.
    """
    end = words[-1:] if words[-1] in PUNCTUATION else ()
    rest = words[: len(words) - len(end)]
    tree: Tree = ("VP", *rest[-1:])
    for word in reversed(rest[1:-1]):
        tree = ("VP", word, tree)
    return ("S", *rest[:1], *([tree] if len(rest) > 1 else []), *end)


def bracket_counts(tree: Tree | None, gold: Tree) -> tuple[int, int, int]:
    """Return how many brackets match, are predicted and are gold."""
    ours = labelled_spans(tree) if tree is not None else Counter()
    theirs = labelled_spans(gold)
    return (ours & theirs).total(), ours.total(), theirs.total()


def counts_of(found: Sequence[Tree | None], gold: Sequence[Tree]) -> NDArray[np.int64]:
    """Return a row a sentence: what F1 adds up."""
    return np.array([bracket_counts(*pair) for pair in zip(found, gold, strict=True)])


def measured(found: Sequence[Tree | None], gold: Sequence[Tree]) -> dict[str, Any]:
    """Return what a record keeps of predicted trees: scores, shares, conventions."""
    score = score_brackets(found, gold)
    pairs = list(zip(found, gold, strict=True))
    return {
        "f1": 100 * score.f1,
        "precision": 100 * score.precision,
        "recall": 100 * score.recall,
        "exact": score.exact,
        "well_formed": sum(tree is not None for tree in found) / len(found),
        "conventions": {name: 100 * f1(pairs, spans) for name, spans in CONVENTIONS.items()},
    }


def f1(pairs: Pairs, spans: Callable[[Tree], Counter[Span]]) -> float:
    """Return F1 with constituents counted in another way."""
    correct = total = 0
    for tree, gold in pairs:
        ours = spans(tree) if tree is not None else Counter()
        theirs = spans(gold)
        correct += (ours & theirs).total()
        total += ours.total() + theirs.total()
    return 2 * correct / total


def as_a_set(tree: Tree) -> Counter[Span]:
    """Count a label over a place once, though it stand there twice (as PYEVALB does)."""
    return Counter(set(labelled_spans(tree)))


def without_root(tree: Tree) -> Counter[Span]:
    """Leave out the outermost constituent, which every tree has."""
    spans = labelled_spans(tree)
    spans[tree[0], 0, sum(1 for _ in leaves(tree))] -= 1
    return +spans


def without_labels(tree: Tree) -> Counter[Span]:
    """Count places only."""
    places: Counter[Span] = Counter()
    for (_, start, end), n in labelled_spans(tree).items():
        places["", start, end] += n
    return places


def without_punctuation(tree: Tree) -> Counter[Span]:
    """Count as evalb's COLLINS.prm has it: punctuation is no word, PRT is ADVP.

    A constituent that holds nothing but punctuation is gone.
    """
    before = [0]
    for word in leaves(tree):
        before.append(before[-1] + (word not in PUNCTUATION))
    spans: Counter[Span] = Counter()
    for (label, start, end), n in labelled_spans(tree).items():
        if before[start] < before[end]:
            spans["ADVP" if label == "PRT" else label, before[start], before[end]] += n
    return spans


CONVENTIONS: dict[str, Callable[[Tree], Counter[Span]]] = {
    "all words, all labels": labelled_spans,
    "without punctuation (COLLINS.prm)": without_punctuation,
    "a set of places": as_a_set,
    "without the outermost constituent": without_root,
    "places only": without_labels,
}
