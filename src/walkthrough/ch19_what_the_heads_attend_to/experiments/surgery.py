"""Take something away from a trained model and put it back: an edge of attention, a head."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from phrasebook.questions import Question
from transformer.attention import MultiHeadAttention
from transformer.data.batching import Batch
from transformer.model import Transformer

Head = tuple[str, int, int]
"""Kind of attention, layer and head, both counted from 0."""

KINDS = ("encoder", "cross", "decoder")


def attentions(model: Transformer, kind: str) -> list[MultiHeadAttention]:
    """Return the attentions of one kind, layer by layer.

    Raises:
        ValueError: there is no such kind.
    """
    if kind not in KINDS:
        raise ValueError(f"kind of attention must be one of {', '.join(KINDS)}, got {kind!r}")
    stack: Any = model.encoder if kind == "encoder" else model.decoder
    return [
        layer.cross_attention if kind == "cross" else layer.self_attention for layer in stack.layers
    ]


def heads(model: Transformer, *kinds: str) -> list[Head]:
    """Return every head of these kinds of attention; of all kinds where none is named."""
    return [
        (kind, layer, head)
        for kind in kinds or KINDS
        for layer, attention in enumerate(attentions(model, kind))
        for head in range(attention.n_heads)
    ]


@contextmanager
def hidden(
    model: Transformer,
    masks: Mapping[str, Bool[Tensor, "batch 1 query_len key_len"]],
    *,
    only: Collection[Head] | None = None,
) -> Iterator[None]:
    """Close edges of attention while the block runs: in all heads, unless `only` names some.

    A mask (True = may attend) for each kind of attention; it joins the one that the model makes.
    The other weights of the row still sum to 1.
    """
    every = [head for kind in masks for head in heads(model, kind)]
    with ExitStack() as stack:
        for kind, layer, head in every if only is None else only:
            attention = attentions(model, kind)[layer]
            hook = attention.register_forward_pre_hook(_close(masks[kind], head, attention.n_heads))
            stack.callback(hook.remove)
        yield


def _close(mask: Tensor, head: int, n_heads: int) -> Any:
    in_head = (torch.arange(n_heads) == head).view(1, -1, 1, 1)

    def close(_: nn.Module, given: tuple[Any, ...]) -> tuple[Any, ...]:
        *inputs, before = given
        open_edges = mask | ~in_head
        return (*inputs, open_edges if before is None else before & open_edges)

    return close


@contextmanager
def without(model: Transformer, removed: Iterable[Head]) -> Iterator[None]:
    """Set the output of heads to zero, before W^O mixes them, while the block runs."""
    with ExitStack() as stack:
        for kind, layer, head in removed:
            attention = attentions(model, kind)[layer]
            hook = attention.output_proj.register_forward_pre_hook(_silence(head, attention.d_v))
            stack.callback(hook.remove)
        yield


def _silence(head: int, d_v: int) -> Any:
    def silence(_: nn.Module, given: tuple[Tensor]) -> tuple[Tensor]:
        merged = given[0].clone()
        merged[..., head * d_v : (head + 1) * d_v] = 0.0
        return (merged,)

    return silence


def all_but(model: Transformer, kept: Head) -> list[Head]:
    """Return the other heads of the layer that a head stands in."""
    return [head for head in heads(model, kept[0]) if head[1] == kept[1] and head != kept]


def without_edges(
    batch: Batch, queries: Sequence[int], keys: Sequence[Collection[int]], *, kind: str = "encoder"
) -> Bool[Tensor, "batch 1 query_len key_len"]:
    """Return a mask that is open everywhere but from each sentence's query to some of its keys."""
    n_queries = batch.source.shape[1] if kind == "encoder" else batch.target_in.shape[1]
    n_keys = batch.target_in.shape[1] if kind == "decoder" else batch.source.shape[1]
    mask = torch.ones(len(queries), 1, n_queries, n_keys, dtype=torch.bool)
    for sentence, (query, closed) in enumerate(zip(queries, keys, strict=True)):
        mask[sentence, 0, query, list(closed)] = False
    return mask


def unseen(batch: Batch, questions: Sequence[Question]) -> dict[str, Tensor]:
    """Return masks, by kind of attention, that hide each answer from every other word.

    No word of the source and none of the target sees it, and what is written of it is hidden from
    all that follows.
    """
    n = len(questions)
    masks = {kind: without_edges(batch, [0] * n, [()] * n, kind=kind) for kind in KINDS}
    for sentence, question in enumerate(questions):
        answers = torch.tensor(question.answers)
        masks["encoder"][sentence, 0, :, answers] = False
        masks["encoder"][sentence, 0, answers, answers] = True
        masks["cross"][sentence, 0, :, answers] = False
        for place in question.written:
            # the decoder reads the start token first: word j stands at place j + 1
            masks["decoder"][sentence, 0, place + 2 :, place + 1] = False
    return masks


def written_places(question: Question) -> set[int]:
    """Return what the decoder reads of the answer: its translation and the word before that.

    The decoder reads the start token first: word j stands at place j + 1. The start token itself is
    left out.
    """
    return {place for j in question.written for place in (j, j + 1)} - {0}


def as_much_weight(
    weights: Float[Tensor, " keys"], closed: Collection[int], kept: int
) -> tuple[list[int], float, float]:
    """Return other places that get as much weight together: the control of closing an edge.

    The ones that get most come first; the place `kept`, of the word itself, stays open. With them
    comes the weight of `closed`, and theirs.
    """
    wanted = float(weights[list(closed)].sum())
    chosen: list[int] = []
    got = 0.0
    for place in weights.argsort(descending=True).tolist():
        if got >= wanted:
            break
        if place not in closed and place != kept and weights[place] > 0:
            chosen.append(place)
            got += float(weights[place])
    return chosen, wanted, got


def with_word_before(question: Question) -> Question:
    """Return a question whose answer takes the word before it along, mostly its article."""
    before = max(min(question.answers) - 1, 0)
    written = {place for j in question.written for place in (max(j - 1, 0), j)}
    return replace(
        question,
        answers=tuple(sorted({before, *question.answers})),
        written=tuple(sorted(written)),
    )
