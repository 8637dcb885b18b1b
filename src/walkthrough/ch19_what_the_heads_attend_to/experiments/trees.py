"""Trees read out of attention, against trees that look at nothing (Figure 5)."""

import random
from collections.abc import Callable, Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from transformer.parsing.brackets import labelled_spans
from transformer.parsing.trees import Tree, leaves

Span = tuple[int, int]
"""First place, and the place after the last."""


def constituents(tree: Tree) -> set[Span]:
    """Return the spans of a tree that say something: not one word alone, not the whole sentence."""
    spans = {(start, end) for _, start, end in labelled_spans(tree)}
    length = max(end for _, end in spans)
    return {(start, end) for start, end in spans if 1 < end - start < length}


def attention_distances(
    weights: Float[Tensor, "*heads length keys"],
) -> Float[Tensor, "*heads gaps"]:
    """Return how differently each word and the next one look: Hellinger distance of their rows."""
    roots = weights.sqrt()
    return ((roots[..., 1:, :] - roots[..., :-1, :]).square().sum(-1) / 2).sqrt()


def leaning_right(distances: Sequence[float], bias: float) -> list[float]:
    """Return distances that favour cuts further left (Kim et al., 2020).

    Each gets `bias` times their mean at the first gap, nothing at the last.
    """
    lift = bias * sum(distances) / max(len(distances), 1)
    last = max(len(distances) - 1, 1)
    return [distance + lift * (1 - i / last) for i, distance in enumerate(distances)]


def split_where_far(distances: Sequence[float]) -> set[Span]:
    """Cut a sentence in two where the distance is largest, and each part again; return the spans.

    `distances[i]` lies between words i and i + 1.
    """
    spans: set[Span] = set()

    def cut(start: int, end: int) -> None:
        if end - start < 2:
            return
        spans.add((start, end))
        gaps = distances[start : end - 1]
        middle = start + max(range(len(gaps)), key=gaps.__getitem__) + 1
        cut(start, middle)
        cut(middle, end)

    length = len(distances) + 1
    cut(0, length)
    return {span for span in spans if span != (0, length)}


BASELINES: dict[str, Callable[[int], list[float]]] = {
    "right-branching": lambda n: [float(n - i) for i in range(n - 1)],
    "left-branching": lambda n: [float(i) for i in range(n - 1)],
}
"""Distances of trees that are the same for every sentence of one length."""
N_DRAWS = 10


def f1(predicted: Sequence[set[Span]], gold: Sequence[set[Span]]) -> float:
    """Return unlabelled F1 over all sentences."""
    correct = sum(len(p & g) for p, g in zip(predicted, gold, strict=True))
    return 2 * correct / (sum(map(len, predicted)) + sum(map(len, gold)))


def baseline_f1(trees: Sequence[Tree]) -> dict[str, float]:
    """Return the F1 of trees that look at nothing, and of the best binary trees there are."""
    gold = [constituents(tree) for tree in trees]
    lengths = [len(list(leaves(tree))) for tree in trees]
    found = {
        name: f1([split_where_far(distances(n)) for n in lengths], gold)
        for name, distances in BASELINES.items()
    }
    generator = random.Random(0)
    draws = [
        f1([split_where_far([generator.random() for _ in range(n - 1)]) for n in lengths], gold)
        for _ in range(N_DRAWS)
    ]
    found["random"] = sum(draws) / N_DRAWS
    correct = sum(map(len, gold))
    n_binary = sum(max(n - 2, 0) for n in lengths)  # spans of a binary tree over n words
    return {**found, "best binary": 2 * correct / (correct + n_binary)}


def head_f1(
    distances: Sequence[Float[Tensor, "layers heads _"]], trees: Sequence[Tree], bias: float = 0.0
) -> Float[Tensor, "layers heads"]:
    """Return the F1 of the trees read out of each head, by the distances in each sentence."""
    gold = [constituents(tree) for tree in trees]
    n_layers, n_heads = distances[0].shape[:2]
    scores = torch.zeros(n_layers, n_heads)
    for layer in range(n_layers):
        for head in range(n_heads):
            rows = [one[layer, head].tolist() for one in distances]
            predicted = [split_where_far(leaning_right(row, bias)) for row in rows]
            scores[layer, head] = f1(predicted, gold)
    return scores
