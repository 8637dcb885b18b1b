"""What attention looks at, measured against gold word alignments (Figures 3–5)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

Link = tuple[int, int]
"""(source position, target position), both from 0."""


def alignment_from_attention(
    weights: Float[Tensor, "target_len source_len"], *, n_source: int, n_target: int
) -> frozenset[Link]:
    """Link each of `n_target` target words to the source word that predicting it looked at most.

    `weights` are the encoder–decoder weights of one head; columns after `n_source` (end symbol,
    padding) are left out. The decoder's input starts with the begin symbol, so row t has read
    words 0 … t − 1 and predicts word t: word t is read in row t. The row where word t is the
    *input* is the next one, t + 1; it predicts the next word and looks at that word's source.

    Raises:
        ValueError: if a side has no words or more words than the weights have rows or columns.
    """
    for name, words, places in (
        ("n_target", n_target, weights.shape[0]),
        ("n_source", n_source, weights.shape[1]),
    ):
        if not 1 <= words <= places:
            raise ValueError(f"{name} must be between 1 and {places}, got {words}")
    looked_at = weights[:n_target, :n_source].argmax(dim=-1).tolist()
    return frozenset((source, target) for target, source in enumerate(looked_at))


def diagonal_alignment(*, n_source: int, n_target: int) -> frozenset[Link]:
    """Link each target word to the source word at the same relative place: the baseline."""
    return frozenset(
        (round(target * (n_source - 1) / max(n_target - 1, 1)), target)
        for target in range(n_target)
    )


@dataclass(frozen=True, kw_only=True)
class AlignmentScore:
    """Counts over sentences, and the two measures that follow from them.

    `error` is the alignment error rate (Och and Ney 2003) with every gold link sure:
    1 − 2·|A ∩ G| / (|A| + |G|). `accuracy` is the share of target words with gold links whose
    predicted source word is one of them.
    """

    n_correct: int
    n_predicted: int
    n_gold: int
    n_words: int
    n_words_correct: int

    @property
    def error(self) -> float:
        """Alignment error rate: 0 is perfect, 1 has no link right."""
        return 1 - 2 * self.n_correct / (self.n_predicted + self.n_gold)

    @property
    def accuracy(self) -> float:
        """Share of aligned target words that are linked to a right source word."""
        return self.n_words_correct / self.n_words


def score_alignments(
    predicted: Sequence[Collection[Link]], gold: Sequence[Collection[Link]]
) -> AlignmentScore:
    """Compare alignments with the gold ones of the same sentences.

    Predicted links of target words that gold leaves unaligned are not counted: attention always
    looks somewhere, also for a word that nothing in the source stands for.

    Raises:
        ValueError: for different numbers of sentences, or no gold link at all.
    """
    if len(predicted) != len(gold):
        raise ValueError(
            f"there must be one gold alignment for each predicted one, got {len(predicted)} "
            f"predicted and {len(gold)} gold"
        )
    n_correct = n_predicted = n_gold = n_words = n_words_correct = 0
    for links, gold_links in zip(predicted, gold, strict=True):
        aligned = {target for _, target in gold_links}
        counted = {link for link in links if link[1] in aligned}
        correct = counted & set(gold_links)
        n_correct += len(correct)
        n_predicted += len(counted)
        n_gold += len(set(gold_links))
        n_words += len(aligned)
        n_words_correct += len({target for _, target in correct})
    if n_gold == 0:
        raise ValueError("alignments need at least 1 gold link to be scored, got 0")
    return AlignmentScore(
        n_correct=n_correct,
        n_predicted=n_predicted,
        n_gold=n_gold,
        n_words=n_words,
        n_words_correct=n_words_correct,
    )


def alignment_by_head(
    weights: Sequence[Float[Tensor, "layers heads _ _"]],
    gold: Sequence[Collection[Link]],
    lengths: Sequence[tuple[int, int]],
) -> list[list[AlignmentScore]]:
    """Score every layer and head over many sentences; `lengths` are (n_source, n_target).

    Each sentence has weights of its own size, (layers, heads, target_len, source_len).

    Raises:
        ValueError: as `alignment_from_attention` and `score_alignments`.
    """
    if not weights or len(weights) != len(lengths):
        raise ValueError(
            "there must be weights and lengths for each of at least 1 sentence, got "
            f"{len(weights)} and {len(lengths)}"
        )
    n_layers, n_heads = weights[0].shape[:2]
    return [
        [
            score_alignments(
                [
                    alignment_from_attention(maps[layer, head], n_source=source, n_target=target)
                    for maps, (source, target) in zip(weights, lengths, strict=True)
                ],
                gold,
            )
            for head in range(n_heads)
        ]
        for layer in range(n_layers)
    ]
