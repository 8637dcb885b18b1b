"""What the page asks of a trained translator: kinds of pairs, heads beside gold links (§3.2)."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from phrasebook import Example, Phrasebook
from transformer.analysis.alignment import (
    alignment_by_head,
    diagonal_alignment,
    score_alignments,
)
from transformer.data.batching import collate
from transformer.model import Transformer
from walkthrough.lab import translator

N_ALIGNED = 200
"""Sentences of a split over which alignment errors are counted."""

KINDS = ("adjective", "object", "place", "negation")


def exact_by_kind(
    outputs: Sequence[str], examples: Sequence[Example], book: Phrasebook
) -> dict[str, tuple[int, int]]:
    """Return, by kind of held-out pair, how many translations are exact, and of how many."""
    counts = {kind: (0, 0) for kind in KINDS}
    for output, example in zip(outputs, examples, strict=True):
        for kind in {pair[0] for pair in book.held_out.intersection(example.combinations)}:
            right, total = counts[kind]
            counts[kind] = (right + (output == example.target_text), total + 1)
    return counts


def head_errors(
    model: Transformer, task: translator.Task, examples: Sequence[Example]
) -> Float[Tensor, "layers heads"]:
    """Return the alignment error of every encoder–decoder head, at the row that predicts a word."""
    maps = [cross_attention(model, task, example) for example in examples]
    lengths = [(len(example.source), len(example.target)) for example in examples]
    scores = alignment_by_head(maps, [example.alignment for example in examples], lengths)
    return torch.tensor([[head.error for head in layer] for layer in scores])


def diagonal_error(examples: Sequence[Example]) -> float:
    """Return the alignment error of the diagonal, which looks at nothing but places."""
    links = [
        diagonal_alignment(n_source=len(example.source), n_target=len(example.target))
        for example in examples
    ]
    return score_alignments(links, [example.alignment for example in examples]).error


@torch.no_grad()
def cross_attention(
    model: Transformer, task: translator.Task, example: Example
) -> Float[Tensor, "layers heads target_len source_len"]:
    """Return the encoder–decoder weights of one example; the decoder reads the reference."""
    model.eval()
    batch = collate(translator.encoded([example], task.codec))
    return model.attention(batch.source, batch.target_in).cross[:, 0]
